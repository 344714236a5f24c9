import type { webcrypto } from "node:crypto";
import { createKeyPairSignerFromPrivateKeyBytes, generateKeyPairSigner } from "@solana/kit";
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../seeded-random.ts";
import { steadyCrypto } from "./steady-crypto.ts";

let undo: () => void;
beforeEach(async () => {
	undo = await steadyCrypto({ randomBytes: seededRandom(1).bytes });
});
afterEach(() => undo());

/** Fails if the work needs more than microtasks. */
async function atOnce<T>(work: Promise<T>): Promise<T> {
	let turns = 0;
	const turn = setImmediate(() => {
		turns += 1;
	});
	const result = await work;
	expect(turns).toBe(0);
	clearImmediate(turn);
	return result;
}

const data = Uint8Array.of(1, 2, 3);

test("hashes and signatures equal those of WebCrypto and need only microtasks", async () => {
	const { publicKey, privateKey } = (await atOnce(
		crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]),
	)) as webcrypto.CryptoKeyPair;
	const hash = await atOnce(crypto.subtle.digest("SHA-256", data));
	const signature = await atOnce(crypto.subtle.sign("Ed25519", privateKey, data));
	expect(await atOnce(crypto.subtle.verify({ name: "Ed25519" }, publicKey, signature, data))).toBe(true);
	expect(await crypto.subtle.verify("Ed25519", publicKey, signature, Uint8Array.of(1))).toBe(false);
	undo();
	expect(new Uint8Array(await crypto.subtle.digest("SHA-256", data))).toEqual(new Uint8Array(hash));
	expect(new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, data))).toEqual(
		new Uint8Array(signature),
	);
	expect(await crypto.subtle.verify("Ed25519", publicKey, signature, data)).toBe(true);
});

test("key and address functions of the Solana client need only microtasks", async () => {
	const signer = await atOnce(createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7)));
	const holding = { owner: signer.address, mint: TOKEN_PROGRAM_ADDRESS, tokenProgram: TOKEN_PROGRAM_ADDRESS };
	const [address] = await atOnce(findAssociatedTokenPda(holding));
	const [signatures] = await atOnce(signer.signMessages([{ content: data, signatures: {} }]));
	undo();
	expect((await findAssociatedTokenPda(holding))[0]).toBe(address);
	expect((await signer.signMessages([{ content: data, signatures: {} }]))[0]).toEqual(signatures);
});

test("new keys are derived from the given random bytes", async () => {
	const first = await atOnce(generateKeyPairSigner());
	undo();
	undo = await steadyCrypto({ randomBytes: seededRandom(1).bytes });
	expect((await generateKeyPairSigner()).address).toBe(first.address);
	expect((await generateKeyPairSigner()).address).not.toBe(first.address);
});

test("a key without the needed usage is refused, and other algorithms still work", async () => {
	const { publicKey } = (await crypto.subtle.generateKey("Ed25519", true, [
		"sign",
		"verify",
	])) as webcrypto.CryptoKeyPair;
	await expect(crypto.subtle.sign("Ed25519", publicKey, data)).rejects.toThrow();
	const hmac = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
	const tag = await crypto.subtle.sign("HMAC", hmac, data);
	expect(await crypto.subtle.verify("HMAC", hmac, tag, data)).toBe(true);
});
