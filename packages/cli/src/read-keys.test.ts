import { getBase58Decoder } from "@solana/kit";
import { expect, test } from "vitest";
import { evmKey, solanaKey } from "../test/fake-service.ts";
import type { Keychain } from "./keychain.ts";
import { openKeychain } from "./keychain.ts";
import { findKey, parseEvmKey, parseSolanaKey, readApiKey, readEvmAccount } from "./read-keys.ts";

const empty: Keychain = { get: async () => undefined, set: async () => {} };
const filled: Keychain = { ...empty, get: async (name) => `${name} of the keychain` };

test("a key in the environment is used first, and the keychain is not read", async () => {
	const untouched: Keychain = {
		...empty,
		get: () => {
			throw new Error("must not be asked");
		},
	};
	expect(await findKey("api-key", { env: { GEOSWAP_API_KEY: " key-1\n" }, keychain: untouched })).toBe(
		"key-1",
	);
	expect(await findKey("api-key", { env: { GEOSWAP_API_KEY: "" }, keychain: filled })).toBe(
		"api-key of the keychain",
	);
});

test("a missing key is an error that names its variable", async () => {
	await expect(readApiKey({ env: {}, keychain: empty })).rejects.toThrow("GEOSWAP_API_KEY");
	await expect(readEvmAccount({ env: {}, keychain: empty })).rejects.toThrow("GEOSWAP_EVM_KEY");
});

test("without a keychain no key is found, and storing one fails with the advice to use the environment", async () => {
	const broken = openKeychain("/nowhere");
	// Without a session bus there is no secret service.
	process.env.DBUS_SESSION_BUS_ADDRESS = "unix:path=/nonexistent";
	expect(await broken.get("evm-key")).toBeUndefined();
	await expect(broken.set("evm-key", "secret")).rejects.toThrow("environment");
});

test("an EVM key is accepted with and without 0x", async () => {
	const { address } = await parseEvmKey(evmKey);
	expect((await parseEvmKey(evmKey.slice(2))).address).toBe(address);
});

test("a Solana key is accepted as a JSON array and as base58", async () => {
	const bytes = Uint8Array.from(JSON.parse(solanaKey));
	expect(await parseSolanaKey(solanaKey)).toEqual(bytes);
	expect(await parseSolanaKey(getBase58Decoder().decode(bytes))).toEqual(bytes);
});

test.each([
	[parseEvmKey, "11".repeat(31)],
	[parseEvmKey, "zz".repeat(32)],
	[parseEvmKey, "00".repeat(32)],
	[parseEvmKey, "ff".repeat(32)],
	[parseSolanaKey, JSON.stringify(Array(31).fill(17))],
	[parseSolanaKey, JSON.stringify(Array(32).fill(256))],
	[parseSolanaKey, JSON.stringify(Array(32).fill("17"))],
	// The two halves do not belong together.
	[parseSolanaKey, JSON.stringify(Array(64).fill(17))],
	[parseSolanaKey, "[17,"],
	[parseSolanaKey, "0OIl"],
] as const)("%o refuses an invalid key without showing it", async (parse, text) => {
	const error: Error = await parse(text).then(
		() => expect.unreachable(),
		(thrown: Error) => thrown,
	);
	expect(error).toMatchObject({ code: "INVALID_KEY", exit: 2 });
	expect(error.message).not.toContain(text);
});
