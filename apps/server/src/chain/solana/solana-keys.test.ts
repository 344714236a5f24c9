import { deriveSolanaDevnetKeys, describeSolana, solanaKeysVariable } from "@geoswap/devnet";
import { getBase58Decoder } from "@solana/kit";
import { expect, test } from "vitest";
import { ConfigError } from "../../config-error.ts";
import { parseSolanaKeys } from "./solana-keys.ts";

const keys = deriveSolanaDevnetKeys();
const deployment = describeSolana({ genesisHash: "1".repeat(32), feeds: {} });
const variable = solanaKeysVariable(keys);
const entries = variable.split(",");

test("the deployment's keys are read, fee payers in the deployment's order", async () => {
	for (const text of [variable, entries.toReversed().join(" , ")]) {
		const parsed = await parseSolanaKeys(text, deployment);
		expect(parsed.feePayers.map(({ address }) => address)).toEqual(deployment.feePayers);
		expect(parsed.escrow.address).toBe(deployment.escrow);
		expect(parsed.vault.address).toBe(deployment.vault);
	}
});

test("keys that are missing, too many, in another role or no keys are refused, and none is told", async () => {
	const stranger = getBase58Decoder().decode(keys.strangers[0] ?? new Uint8Array());
	const broken = getBase58Decoder().decode((keys.strangers[0] ?? new Uint8Array()).slice(0, 63));
	const mixed = new Uint8Array([...keys.escrow.slice(0, 32), ...keys.vault.slice(32)]);
	const mistakes: [text: string, problem: RegExp][] = [
		["", /must be feePayer/],
		["nonsense", /must be feePayer/],
		[entries.slice(1).join(","), /no feePayer key for/],
		[entries.slice(0, -1).join(","), /no vault key for/],
		[`${variable},feePayer:${stranger}`, /does not name/],
		[`${variable},${entries[0]}`, /twice/],
		[variable.replace("escrow:", "vault:"), /no escrow key/],
		[variable.replace(/escrow:[^,]+/, `escrow:${stranger}`), /no escrow key/],
		[variable.replace(/escrow:[^,]+/, `escrow:${broken}`), /not the 64 bytes of a key pair/],
		[variable.replace(/escrow:[^,]+/, `escrow:${getBase58Decoder().decode(mixed)}`), /not the 64 bytes/],
		[variable.replace("feePayer:", "payer:"), /must be feePayer/],
	];
	for (const [text, problem] of mistakes) {
		const error = await parseSolanaKeys(text, deployment).catch((thrown: unknown) => thrown);
		expect(error, text).toBeInstanceOf(ConfigError);
		expect(String(error)).toMatch(problem);
		for (const secret of [...entries.map((entry) => entry.split(":")[1] ?? ""), stranger, broken]) {
			expect(String(error)).not.toContain(secret);
		}
	}
});
