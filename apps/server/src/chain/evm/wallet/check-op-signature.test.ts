import { keccak256, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { checkOpSignature } from "./check-op-signature.ts";

const account = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const wallet = account.address;
const opHash = keccak256(toHex("an op"));

test("a personal_sign of the wallet over the 32 bytes is accepted", async () => {
	const signature = await account.signMessage({ message: { raw: opHash } });
	checkOpSignature({ opHash, signature, wallet });
});

test("any other signature is refused, with the recovered signer and the likely mistake", async () => {
	for (const [signature, details] of [
		[await stranger.signMessage({ message: { raw: opHash } }), { recovered: stranger.address }],
		[await account.signMessage({ message: opHash }), { looksLike: "hex_text" }],
		[await account.signMessage({ message: opHash.slice(2) }), { looksLike: "hex_text" }],
		[await account.sign({ hash: opHash }), { looksLike: "no_prefix" }],
		[`0x${"00".repeat(64)}1b`, { expected: wallet }],
	] as const) {
		const refused = { code: "INVALID_SIGNATURE", details: { expected: wallet, ...details } };
		expect(() => checkOpSignature({ opHash, signature, wallet })).toThrow(matching(refused));
	}
});

function matching({ code, details }: { code: string; details: object }): Error {
	return expect.objectContaining({ code, details: expect.objectContaining(details) });
}
