import type { SignatureKind } from "@geoswap/protocol";
import { keccak256, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { checkOpSignature } from "./check-op-signature.ts";

const account = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const wallet = account.address;
const opHash = keccak256(toHex("an op"));
const both: SignatureKind[] = ["personal", "typed"];

const personal = () => account.signMessage({ message: { raw: opHash } });
// The digest of the typed data is the hash itself.
const typed = () => account.sign({ hash: opHash });

test("a signature of the typed data, and a personal_sign over the 32 bytes, are accepted, each as its kind", async () => {
	expect(checkOpSignature({ opHash, signature: await typed(), wallet, accepted: both })).toBe("typed");
	expect(checkOpSignature({ opHash, signature: await personal(), wallet, accepted: both })).toBe("personal");
	expect(checkOpSignature({ opHash, signature: await typed(), wallet, accepted: ["typed"] })).toBe("typed");
	expect(checkOpSignature({ opHash, signature: await personal(), wallet, accepted: ["personal"] })).toBe(
		"personal",
	);
});

test("a wallet's signature of a kind that is not accepted is refused, and the error names the kind", async () => {
	for (const [signature, accepted, looksLike] of [
		[await personal(), ["typed"], "personal_sign"],
		[await personal(), [], "personal_sign"],
		[await typed(), ["personal"], "typed_data"],
	] as const) {
		const refused = { code: "INVALID_SIGNATURE", details: { expected: wallet, looksLike } };
		expect(() => checkOpSignature({ opHash, signature, wallet, accepted })).toThrow(matching(refused));
	}
});

test("any other signature is refused, with the recovered signer and the likely mistake", async () => {
	for (const [signature, details, accepted = both] of [
		[await stranger.signMessage({ message: { raw: opHash } }), { recovered: stranger.address }],
		[await stranger.sign({ hash: opHash }), { recovered: stranger.address }, ["typed"]],
		[await account.signMessage({ message: opHash }), { looksLike: "hex_text" }],
		[await account.signMessage({ message: opHash.slice(2) }), { looksLike: "hex_text" }],
		[`0x${"00".repeat(64)}1b`, {}],
	] as const) {
		const refused = { code: "INVALID_SIGNATURE", details: { expected: wallet, ...details } };
		expect(() => checkOpSignature({ opHash, signature, wallet, accepted })).toThrow(matching(refused));
	}
});

function matching({ code, details }: { code: string; details: object }): Error {
	return expect.objectContaining({ code, details: expect.objectContaining(details) });
}
