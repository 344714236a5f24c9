import { concat, type Hex, slice } from "viem";
import { expect, test } from "vitest";
import { orderProof, readOrderProof } from "./order-proof.ts";

const signature: Hex = `0x${"11".repeat(32)}${"22".repeat(32)}1b`;

test.each(["typed", "personal"] as const)(
	"a proof of a %s signature is decoded to its original values",
	(kind) => {
		expect(readOrderProof(orderProof({ kind, signature }))).toEqual({ kind, signature });
	},
);

test("an agent's signature is followed by its mandate", () => {
	const mandate: Hex = "0x1234";
	const proof = orderProof({ kind: "typed", signature, mandate });
	expect(proof).toBe(`0x00${signature.slice(2)}1234`);
	expect(readOrderProof(proof)).toEqual({ kind: "typed", signature, mandate });
});

test("the first byte of a proof is 0 for typed data and 1 for personal_sign, as the account reads it", () => {
	expect(orderProof({ kind: "typed", signature })).toBe(`0x00${signature.slice(2)}`);
	expect(orderProof({ kind: "personal", signature })).toBe(`0x01${signature.slice(2)}`);
});

test("bytes that are too short or of another kind are no proof", () => {
	const proof = orderProof({ kind: "typed", signature });
	for (const other of [
		"0x",
		slice(proof, 0, 1),
		slice(proof, 0, 65),
		concat(["0x02", signature]),
		concat(["0xff", signature]),
	] as Hex[]) {
		expect(readOrderProof(other), other).toBeUndefined();
	}
});
