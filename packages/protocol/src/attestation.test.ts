import { expect, test } from "vitest";
import { anyOrder, readVectors } from "../vectors/read-vectors.ts";
import { attestationDigest, attestationMessage } from "./attestation.ts";
import { orderId } from "./order.ts";
import { fromWord } from "./word.ts";

test("the digests match the test vectors", () => {
	const { releaseDigest, refundDigest, ...message } = readVectors().attestation;
	expect(attestationDigest({ ...message, kind: "Release" })).toBe(releaseDigest);
	expect(attestationDigest({ ...message, kind: "Refund" })).toBe(refundDigest);
});

test("an attestation covers orders of one escrow on one chain; a mix of orders, or an empty list, is refused", () => {
	const order = anyOrder();
	const other = { ...order, minOutput: 1n };
	expect(attestationMessage("Release", [order, other])).toEqual({
		kind: "Release",
		originChainId: 31337,
		escrow: fromWord(order.escrow),
		orderIds: [orderId(order), orderId(other)],
	});
	expect(() => attestationMessage("Refund", [])).toThrow(RangeError);
	expect(() => attestationMessage("Refund", [order, { ...order, originChainId: 1n }])).toThrow(RangeError);
	expect(() => attestationMessage("Refund", [order, { ...order, escrow: order.wallet }])).toThrow(RangeError);
});
