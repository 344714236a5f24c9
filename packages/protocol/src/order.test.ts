import { toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder, readVectors } from "../vectors/read-vectors.ts";
import { type Order, orderId, orderTerms } from "./order.ts";

test.each(readVectors().orders)("the id of an order is the one in the vectors: $name", (vector) => {
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

test("terms are the order less what the escrow derives", () => {
	expect(Object.keys(orderTerms(anyOrder()))).toEqual([
		...["destinationChainId", "originVault", "destinationVault", "attesterSet", "inputToken", "inputAmount"],
		...["outputToken", "minOutput", "recipient", "swapKey", "deadlines"],
	]);
});
