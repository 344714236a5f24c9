import { readFileSync } from "node:fs";
import fc from "fast-check";
import { type Address, type Hex, toHex, zeroAddress } from "viem";
import { expect, test } from "vitest";
import {
	attestationDigest,
	attestationMessage,
	attesterSetHash,
	fromWord,
	type Order,
	orderCalls,
	orderId,
	orderTerms,
	orderUserOp,
	packDeadlines,
	toWord,
	unpackDeadlines,
} from "./index.ts";

const vectors = JSON.parse(readFileSync(new URL("../vectors/orders.json", import.meta.url), "utf8"));

const numberFields = ["originChainId", "destinationChainId", "inputAmount", "minOutput", "deadlines"];

function readOrder(plain: Record<string, Hex>): Order {
	return Object.fromEntries(
		Object.entries(plain).map(([field, word]) => [field, numberFields.includes(field) ? BigInt(word) : word]),
	) as Order;
}

const orders: { name: string; order: Order; orderId: Hex }[] = vectors.orders.map(
	(vector: { name: string; order: Record<string, Hex>; orderId: Hex }) => ({
		...vector,
		order: readOrder(vector.order),
	}),
);

const anyOrder = orders[0]?.order as Order;
const gas = { verificationGasLimit: 60_000n, callGasLimit: 200_000n };
const delegate: Address = "0x00000000000000000000000000000000000D1e6A";

test.each(orders)("the id of an order is the one in the vectors: $name", ({ order, orderId: expected }) => {
	expect(orderId(order)).toBe(expected);
});

test("attester set and digests are the ones in the vectors", () => {
	const { attesterSet, attestation } = vectors;
	expect(attesterSetHash(attesterSet)).toBe(attesterSet.hash);
	expect(attestationDigest({ ...attestation, kind: "Release" })).toBe(attestation.releaseDigest);
	expect(attestationDigest({ ...attestation, kind: "Refund" })).toBe(attestation.refundDigest);
});

test("a change of any field changes the order's id, and the op's hash where the wallet signs for it", () => {
	const fields = Object.keys(anyOrder) as (keyof Order)[];
	const sign = (order: Order) => orderUserOp({ order, delegate, allowance: 0n, gas }).hash;
	for (const field of fields) {
		const value = anyOrder[field];
		const changed = {
			...anyOrder,
			[field]: typeof value === "bigint" ? value + 1n : toHex(BigInt(value) + 1n, { size: 32 }),
		};
		expect(orderId(changed), field).not.toBe(orderId(anyOrder));
		expect(sign(changed), field).not.toBe(sign(anyOrder));
	}
	expect(
		orderUserOp({
			order: anyOrder,
			delegate: "0x00000000000000000000000000000000000d1E6b",
			allowance: 0n,
			gas,
		}).hash,
	).not.toBe(sign(anyOrder));
});

test("terms are the order less what the escrow derives", () => {
	expect(Object.keys(orderTerms(anyOrder))).toEqual([
		...["destinationChainId", "originVault", "destinationVault", "attesterSet", "inputToken", "inputAmount"],
		...["outputToken", "minOutput", "recipient", "swapKey", "deadlines"],
	]);
});

test("an attestation is of orders of one escrow on one chain", () => {
	const [order, other] = [anyOrder, { ...anyOrder, minOutput: 1n }];
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

test("no op is made for a chain id that is none, or a swap key that is no UUID", () => {
	const make = (change: Partial<Order>) => () =>
		orderUserOp({ order: { ...anyOrder, ...change }, delegate, allowance: 0n, gas });
	expect(make({ originChainId: 2n ** 53n })).toThrow(RangeError);
	expect(make({ originChainId: 0n })).toThrow(RangeError);
	expect(make({ swapKey: toHex(2n ** 128n, { size: 32 }) })).toThrow(RangeError);
});

test("deadlines survive packing; times beyond 64 bits or out of order are refused", () => {
	const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
	fc.assert(
		fc.property(fc.uniqueArray(time, { minLength: 3, maxLength: 3 }), (times) => {
			const [openDeadline = 0n, fillDeadline = 0n, refundAfter = 0n] = times.toSorted((a, b) =>
				a < b ? -1 : 1,
			);
			const deadlines = { openDeadline, fillDeadline, refundAfter };
			expect(unpackDeadlines(packDeadlines(deadlines))).toEqual(deadlines);
			expect(() => packDeadlines({ ...deadlines, openDeadline: fillDeadline })).toThrow(RangeError);
			expect(() => packDeadlines({ ...deadlines, refundAfter: fillDeadline })).toThrow(RangeError);
		}),
	);
	expect(() => packDeadlines({ openDeadline: -1n, fillDeadline: 1n, refundAfter: 2n })).toThrow(RangeError);
	expect(() => packDeadlines({ openDeadline: 0n, fillDeadline: 1n, refundAfter: 2n ** 64n })).toThrow(
		RangeError,
	);
	expect(() => unpackDeadlines(2n ** 192n)).toThrow(RangeError);
});

test("an address survives its word, and a word with more in it is refused", () => {
	fc.assert(
		fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
			expect(fromWord(toWord(toHex(bytes))).toLowerCase()).toBe(toHex(bytes));
		}),
	);
	expect(() => fromWord(toHex(2n ** 160n, { size: 32 }))).toThrow(RangeError);
	expect(() => toWord("0x1234")).toThrow(RangeError);
	expect(() => toWord(toHex(1, { size: 32 }))).toThrow(RangeError);
});

test("a set that no signatures can satisfy, or that counts one signer twice, is refused", () => {
	const [first, second] = [
		"0x1000000000000000000000000000000000000001",
		"0x2000000000000000000000000000000000000002",
	] as const;
	expect(() => attesterSetHash({ threshold: 0, attesters: [first] })).toThrow(RangeError);
	expect(() => attesterSetHash({ threshold: 2, attesters: [first] })).toThrow(RangeError);
	expect(() => attesterSetHash({ threshold: 1, attesters: [second, first] })).toThrow(RangeError);
	expect(() => attesterSetHash({ threshold: 2, attesters: [first, first] })).toThrow(RangeError);
	expect(() => attesterSetHash({ threshold: 1, attesters: [zeroAddress] })).toThrow(RangeError);
});

test("calls are approve and open; clear first where an allowance stands; open alone for the native token", () => {
	const escrow = fromWord(anyOrder.escrow);
	const token = fromWord(anyOrder.inputToken);
	const targets = (order: Order, allowance: bigint) =>
		orderCalls({ order, allowance }).map((call) => call.to);
	expect(targets(anyOrder, 0n)).toEqual([token, escrow]);
	expect(targets(anyOrder, 1n)).toEqual([token, token, escrow]);
	const nativeOrder = { ...anyOrder, inputToken: toHex(0, { size: 32 }) };
	expect(orderCalls({ order: nativeOrder, allowance: 1n })).toMatchObject([
		{ to: escrow, value: anyOrder.inputAmount },
	]);
});

test("the op pays no fee, has no paymaster, carries the delegation marker and the swap's own nonce", () => {
	const { userOp } = orderUserOp({ order: anyOrder, delegate, allowance: 0n, gas });
	expect(userOp.gasFees).toBe(toHex(0, { size: 32 }));
	expect(userOp.preVerificationGas).toBe(0n);
	expect(userOp.paymasterAndData).toBe("0x");
	expect(userOp.initCode).toBe("0x7702");
	expect(userOp.nonce).toBe(0x0192f3c4a5b67c8d9e0f112233445566n << 64n);
});
