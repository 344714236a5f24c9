import { expect, test } from "vitest";
import { evmKey } from "../test/fake-service.ts";
import { askKeys } from "./ask-keys.ts";
import type { Keychain, KeyName } from "./keychain.ts";

function makeKeychain(secrets: Partial<Record<KeyName, string>>): Keychain {
	return {
		get: async (name) => secrets[name],
		set: async (name, secret) => {
			secrets[name] = secret;
		},
	};
}

/** Returns an `ask` that gives these answers in turn, and the questions that it received. */
function answering(...answers: string[]) {
	const questions: string[] = [];
	return { questions, ask: async (question: string) => answers[questions.push(question) - 1] ?? "" };
}

test("an empty answer keeps the stored key, and another key replaces it", async () => {
	const secrets: Partial<Record<KeyName, string>> = { "api-key": "old", "evm-key": "old" };
	const { ask, questions } = answering("", ` ${evmKey}\n`, "");
	const stored = await askKeys({ env: {}, keychain: makeKeychain(secrets), ask, say: () => {} });
	expect(stored).toEqual(["evm-key"]);
	expect(secrets).toEqual({ "api-key": "old", "evm-key": evmKey });
	expect(questions.map((question) => /\(.*\)/.exec(question)?.[0])).toEqual([
		"(Enter: keep the stored one)",
		"(Enter: keep the stored one)",
		"(Enter: not now)",
	]);
});

test.each([
	["api-key", ["a key"]],
	["evm-key", ["", "11"]],
	["solana-key", ["", "", "11"]],
])("an invalid %s does not replace the stored one", async (name, answers) => {
	const secrets = { [name]: "old" };
	const asked = askKeys({
		env: {},
		keychain: makeKeychain(secrets),
		...answering(...answers),
		say: () => {},
	});
	await expect(asked).rejects.toMatchObject({ code: "INVALID_KEY" });
	expect(secrets).toEqual({ [name]: "old" });
});

test("init does not prompt for a key that is in the environment", async () => {
	const { ask, questions } = answering();
	const env = { GEOSWAP_API_KEY: "key-1", GEOSWAP_SOLANA_KEY: "any" };
	expect(await askKeys({ env, keychain: makeKeychain({}), ask, say: () => {} })).toEqual([]);
	expect(questions).toEqual([expect.stringContaining("EVM")]);
});
