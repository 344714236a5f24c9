import { randomBytes } from "node:crypto";
import { createKeyPairSignerFromPrivateKeyBytes, signBytes } from "@solana/kit";
import { expect, test } from "vitest";
import { memoryMessageKey } from "./backend/memory-key.ts";
import { solanaSignerOf } from "./solana-signer-of.ts";

const seed = new Uint8Array(randomBytes(32));
const key = memoryMessageKey({ reference: "env:TEST", backend: "env" }, seed);
const message = new Uint8Array(randomBytes(300));

test("a message is signed as kit signs it", async () => {
	const kit = await createKeyPairSignerFromPrivateKeyBytes(seed);
	const signer = solanaSignerOf(key);
	expect(signer.address).toBe(kit.address);
	expect(await signer.sign(message)).toEqual(
		new Uint8Array(await signBytes(kit.keyPair.privateKey, message)),
	);
});

test("bytes that are not the key's signature over the message are never returned", async () => {
	const other = memoryMessageKey(key.name, new Uint8Array(randomBytes(32)));
	for (const signMessage of [
		other.signMessage,
		(_: Uint8Array, options: object) => key.signMessage(new Uint8Array(3), options),
		async () => new Uint8Array(64),
		async () => new Uint8Array(63),
	]) {
		await expect(solanaSignerOf({ ...key, signMessage }).sign(message)).rejects.toThrow("not a signature");
	}
});
