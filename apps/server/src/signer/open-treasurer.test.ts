import { deriveDevnetKeys } from "@geoswap/devnet";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { ConfigError } from "../config/config-error.ts";
import { workerKeysSchema } from "../config/role-keys.ts";
import { openRelayers } from "./open-relayers.ts";
import { openSigners } from "./open-signers.ts";
import { openTreasurer } from "./open-treasurer.ts";

const [key, other] = [generatePrivateKey(), generatePrivateKey()];
const address = privateKeyToAddress(key);

function opening(environment: NodeJS.ProcessEnv, settings: object = {}) {
	const keys = workerKeysSchema.parse(settings);
	return { keys, signers: openSigners({ settings: keys, environment, nowMs: Date.now }), environment };
}

test("the treasurer of a chain is the one that the configuration names, or else the one of the environment", async () => {
	const environment = { GEOSWAP_TREASURER_KEYS: `31337:${key}, 31338:${other}`, SOME_KEY: other };
	expect((await openTreasurer(31337, opening(environment))).address).toBe(address);
	const named = opening(environment, { treasurers: { 31337: "env:SOME_KEY" } });
	expect((await openTreasurer(31337, named)).address).toBe(privateKeyToAddress(other));
});

test("a treasurer's key that is missing, doubled or invalid is refused by name, without showing a key", async () => {
	const mistakes: [environment: NodeJS.ProcessEnv, settings: object, problem: string][] = [
		[{}, {}, "GEOSWAP_TREASURER_KEYS: is not set in the environment"],
		[{ GEOSWAP_TREASURER_KEYS: `31338:${key}` }, {}, "GEOSWAP_TREASURER_KEYS: has no key for chain 31337"],
		[
			{ GEOSWAP_TREASURER_KEYS: `31337:${key},31337:${other}` },
			{},
			"GEOSWAP_TREASURER_KEYS: has more than one key for chain 31337",
		],
		[{ GEOSWAP_TREASURER_KEYS: key }, {}, "GEOSWAP_TREASURER_KEYS: has an entry that is not"],
		[
			{ GEOSWAP_TREASURER_KEYS: `31337:${key}`, SOME_KEY: key },
			{ treasurers: { 31338: "env:SOME_KEY" } },
			"keys.treasurers: has no key for chain 31337",
		],
	];
	for (const [environment, settings, problem] of mistakes) {
		const error = await openTreasurer(31337, opening(environment, settings)).catch((thrown) => thrown);
		expect(error, problem).toBeInstanceOf(ConfigError);
		expect(String(error)).toContain(problem);
		for (const secret of [key, other]) expect(String(error)).not.toContain(secret.slice(2));
	}
});

test("on a chain that is not a devnet, keys in the environment need the operator's permission, and development keys are refused", async () => {
	const { treasurer, relayers } = deriveDevnetKeys();
	const environment = (plain: string) => ({
		GEOSWAP_TREASURER_KEYS: `8453:${plain}`,
		GEOSWAP_RELAYER_KEYS: `8453:${plain}`,
	});
	const allowed = { allowPlain: true };
	for (const open of [openTreasurer, openRelayers]) {
		await expect(open(8453, opening(environment(key)))).rejects.toThrow("is in the environment");
		await expect(open(8453, opening(environment(key), allowed))).resolves.toBeTruthy();
		for (const known of [treasurer, relayers[0] ?? "0x"]) {
			const refused = open(8453, opening(environment(known), allowed));
			await expect(refused).rejects.toThrow("is a development key");
		}
	}
});
