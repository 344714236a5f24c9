import { toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder, readVectors } from "../vectors/read-vectors.ts";
import { type Order, orderId, orderTerms } from "./order.ts";
import { orderSchema } from "./wire/order.ts";
import { orderToJson } from "./wire/order-json.ts";

test.each(readVectors().orders)("the id of an order matches the test vector: $name", (vector) => {
	expect(orderId(vector.order)).toBe(vector.orderId);
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
		...["destinationChainId", "originVault", "destinationVault", "attesterSet", "inputToken", "inputAmount"],
		...["outputToken", "minOutput", "recipient", "swapKey", "deadlines"],
	]);
});
