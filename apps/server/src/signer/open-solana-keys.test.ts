import { deriveSolanaDevnetKeys, describeSolana, solanaKeyVariables } from "@geoswap/devnet";
import { getBase58Decoder } from "@solana/kit";
import { expect, test } from "vitest";
import type { SolanaKeyName } from "../../test/signer/solana-keys-of.ts";
import { ConfigError } from "../config/config-error.ts";
import { workerKeysSchema } from "../config/role-keys.ts";
import { openSigners } from "./open-signers.ts";
import { openSolanaKeys } from "./open-solana-keys.ts";

/** Opens the keys of a worker whose configuration names none. */
function open(
	environment: Record<SolanaKeyName, string>,
	{ allowPlain = true, deployment = described } = {},
) {
	const settings = workerKeysSchema.parse({ allowPlain });
	const signers = openSigners({ settings, nowMs: Date.now });
	return openSolanaKeys({ keys: settings, signers, deployment, environment });
}

const keys = deriveSolanaDevnetKeys();
const described = describeSolana({ genesisHash: "1".repeat(32), feeds: {} });
const variables = solanaKeyVariables(keys);
const feePayers = variables.GEOSWAP_SOLANA_FEE_PAYER_KEYS.split(",");
const { GEOSWAP_SOLANA_OPERATOR_KEY: operator } = variables;

test("the deployment's keys are read, with fee payers in the deployment's order", async () => {
	for (const payers of [feePayers.join(","), feePayers.toReversed().join(" , ")]) {
		const parsed = await open({ ...variables, GEOSWAP_SOLANA_FEE_PAYER_KEYS: payers });
		expect(parsed.feePayers.map(({ address }) => address)).toEqual(described.feePayers);
		expect(parsed.operator.address).toBe(described.program.operator);
	}
});

test("keys that are missing, extra, of another role or invalid are refused by variable name, without showing a key", async () => {
	const stranger = getBase58Decoder().decode(keys.strangers[0] ?? new Uint8Array());
	const broken = getBase58Decoder().decode((keys.strangers[0] ?? new Uint8Array()).slice(0, 63));
	const mixed = getBase58Decoder().decode(
		new Uint8Array([...keys.operator.slice(0, 32), ...(keys.strangers[0] ?? []).slice(32)]),
	);
	const mistakes: [name: SolanaKeyName, text: string, problem: RegExp][] = [
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", "", /is not set/],
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", `feePayer:${feePayers[0]}`, /must be the 64 bytes/],
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", feePayers.slice(1).join(","), /has no key for/],
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", [...feePayers, stranger].join(","), /does not name/],
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", [...feePayers, feePayers[0]].join(","), /twice/],
		["GEOSWAP_SOLANA_FEE_PAYER_KEYS", [...feePayers, operator].join(","), /does not name/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", "", /is not set/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", stranger, /has no key for/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", [operator, stranger].join(","), /does not name/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", broken, /not the 64 bytes of a key pair/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", mixed, /not the 64 bytes/],
		["GEOSWAP_SOLANA_OPERATOR_KEY", "nonsense0", /must be the 64 bytes/],
	];
	for (const [name, text, problem] of mistakes) {
		const error = await open({ ...variables, [name]: text }).catch((thrown: unknown) => thrown);
		expect(error, text).toBeInstanceOf(ConfigError);
		expect(String(error)).toMatch(problem);
		expect(String(error)).toContain(name);
		for (const secret of [...feePayers, operator, stranger, broken]) {
			expect(String(error)).not.toContain(secret);
		}
	}
});

test("keys in the environment are refused on a cluster that is not the devnet's, unless the operator allows them", async () => {
	await expect(open(variables, { allowPlain: false })).rejects.toThrow(
		/^GEOSWAP_SOLANA_\w+: the key of \w+ is in the environment.*keys\.allowPlain/,
	);
});
