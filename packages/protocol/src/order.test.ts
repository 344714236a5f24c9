import fc from "fast-check";
import { getAddress, type Hex, hashStruct, hashTypedData, numberToHex, toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder, readVectors } from "../vectors/read-vectors.ts";
import { type Order, orderDigest, orderId, orderTerms, orderTypedData, orderTypes } from "./order.ts";
import { orderSchema } from "./wire/order.ts";
import { orderToJson } from "./wire/order-json.ts";
import { toWord } from "./word.ts";

const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: (1n << bits) - 1n });
const word: fc.Arbitrary<Hex> = uint(256n).map((value) => numberToHex(value, { size: 32 }));
const addressWord = uint(160n).map((value) => toWord(getAddress(numberToHex(value, { size: 20 }))));

/** Any order whose origin is an EVM chain, as contracts can hold it. */
const orders: fc.Arbitrary<Order> = fc.record({
	wallet: addressWord,
	inputToken: addressWord,
	inputAmount: uint(256n),
	originChainId: fc.bigInt({ min: 1n, max: BigInt(Number.MAX_SAFE_INTEGER) }),
	destinationChainId: uint(256n),
	outputToken: word,
	minOutput: uint(256n),
	recipient: word,
	topUp: uint(256n),
	escrow: addressWord,
	originVault: addressWord,
	destinationVault: word,
	attesterSet: word,
	swapKey: word,
	deadlines: uint(192n),
});

test.each(readVectors().orders)("id and digest of an order match the test vector: $name", (vector) => {
	expect(orderId(vector.order)).toBe(vector.orderId);
	expect(orderDigest(vector.order)).toBe(vector.digest);
});

test.each(readVectors().orders)(
	"id and digest of an order equal those that viem computes: $name",
	({ order }) => {
		expectAsViem(order);
	},
);

test("id and digest of any order equal those that viem computes from its typed data", () => {
	fc.assert(fc.property(orders, expectAsViem));
});

test("the typed data of any order survives JSON, the form in which a wallet in a browser gets it", () => {
	fc.assert(
		fc.property(orders, (order) => {
			const { message, ...rest } = orderTypedData(order);
			const text = JSON.stringify({
				...rest,
				message: Object.fromEntries(Object.entries(message).map(([name, value]) => [name, String(value)])),
			});
			expect(hashTypedData(JSON.parse(text))).toBe(orderDigest(order));
		}),
	);
});

test("if the deadlines' word has bits above its three times, the order has a different id, as in the contracts", () => {
	fc.assert(
		fc.property(orders, uint(64n), (order, above) => {
			const { openDeadline, ...message } = orderTypedData(order).message;
			const deadlines = order.deadlines | (above << 192n);
			const data = { ...message, openDeadline: (above << 64n) | openDeadline };
			expect(orderId({ ...order, deadlines })).toBe(
				hashStruct({ data, types: orderTypes, primaryType: "Order" }),
			);
		}),
	);
	expect(() => orderTypedData({ ...anyOrder(), deadlines: 1n << 192n })).toThrow(RangeError);
});

test("the digest of an order depends on its chain and its escrow", () => {
	const order = anyOrder();
	const { domain } = orderTypedData(order);
	for (const change of [{ chainId: 5 }, { verifyingContract: getAddress(`0x${"ab".repeat(20)}`) }]) {
		const typedData = { ...orderTypedData(order), domain: { ...domain, ...change } };
		expect(hashTypedData(typedData)).not.toBe(orderDigest(order));
	}
	expect(() => orderDigest({ ...order, originChainId: 1n << 64n })).toThrow(RangeError);
});

test("a change of any field changes the order's id", () => {
	const order = anyOrder();
	for (const field of Object.keys(order) as (keyof Order)[]) {
		const value = order[field];
		const other = typeof value === "bigint" ? value + 1n : toHex(BigInt(value) + 1n, { size: 32 });
		expect(orderId({ ...order, [field]: other }), field).not.toBe(orderId(order));
	}
});

test("a changed order gets a new id, and a parsed order cannot be changed", () => {
	const order: { -readonly [Field in keyof Order]: Order[Field] } = { ...anyOrder() };
	const before = orderId(order);
	order.inputAmount += 1n;
	expect(orderId(order)).not.toBe(before);
	const parsed = orderSchema.parse(orderToJson(order));
	expect(orderId(parsed)).toBe(orderId(order));
	expect(() => Object.assign(parsed, { inputAmount: 1n })).toThrow(TypeError);
});

test("an order with a value of the wrong size gets no id", () => {
	expect(() => orderId({ ...anyOrder(), wallet: "0x01" })).toThrow(RangeError);
	expect(() => orderId({ ...anyOrder(), inputAmount: 2n ** 256n })).toThrow();
	expect(() => orderId({ ...anyOrder(), inputAmount: -1n })).toThrow();
});

test("the terms of an order leave out the fields that the escrow derives", () => {
	expect(Object.keys(orderTerms(anyOrder()))).toEqual([
		...["inputToken", "inputAmount", "destinationChainId", "outputToken", "minOutput", "recipient", "topUp"],
		...["originVault", "destinationVault", "attesterSet", "swapKey", "deadlines"],
	]);
});

function expectAsViem(order: Order): void {
	const typedData = orderTypedData(order);
	const { message: data, types, primaryType } = typedData;
	expect(orderId(order)).toBe(hashStruct({ data, types, primaryType }));
	expect(orderDigest(order)).toBe(hashTypedData(typedData));
}
