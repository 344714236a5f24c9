import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import { anyOrder } from "../../vectors/read-vectors.ts";
import { type Order, orderId } from "../order.ts";
import { orderSchema } from "./order.ts";
import { orderToJson } from "./order-json.ts";

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const order = fc.record(
	Object.fromEntries(
		Object.entries(anyOrder()).map(([field, value]) => [
			field,
			typeof value === "bigint" ? uint256 : uint256.map((word) => toHex(word, { size: 32 })),
		]),
	),
) as unknown as fc.Arbitrary<Order>;

test("an order round-trips through JSON", () => {
	fc.assert(
		fc.property(order, (original) => {
			const parsed = orderSchema.parse(JSON.parse(JSON.stringify(orderToJson(original))));
			expect(parsed).toEqual(original);
			expect(orderId(parsed)).toBe(orderId(original));
		}),
	);
});

test("an order with an extra field, a missing field or a field out of range is refused", () => {
	const json = orderToJson(anyOrder());
	const isOrder = (value: unknown) => orderSchema.safeParse(value).success;
	expect(isOrder(json)).toBe(true);
	expect(isOrder({ ...json, fee: "1" })).toBe(false);
	for (const field of Object.keys(json)) expect(isOrder({ ...json, [field]: undefined }), field).toBe(false);
	expect(isOrder({ ...json, minOutput: String(2n ** 256n) })).toBe(false);
	expect(isOrder({ ...json, minOutput: "0x10" })).toBe(false);
	expect(isOrder({ ...json, minOutput: "-1" })).toBe(false);
	expect(isOrder({ ...json, wallet: json.wallet.slice(0, -1) })).toBe(false);
	expect(isOrder({ ...json, wallet: `${json.wallet}0` })).toBe(false);
});
