import fc from "fast-check";
import { type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { createStrangerOrders } from "./stranger-orders.ts";

const orderIdAt = (number: number): Hex => numberToHex(number * 0x1_0000_0001, { size: 32 });
const order = (number: number, of: { amount?: bigint; holding?: string } = {}) => ({
	orderId: orderIdAt(number),
	block: number,
	refundableAt: 0,
	holding: "usdc",
	amount: 1n,
	...of,
});

test("the sums cover the orders that were added and not removed, also if all ids fall into one bucket", () => {
	const changes = fc.array(
		fc.record({
			number: fc.integer({ min: 0, max: 12 }),
			isAdded: fc.boolean(),
			amount: fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }),
			holding: fc.constantFrom("usdc", "usdt", "eth"),
		}),
		{ maxLength: 60 },
	);
	fc.assert(
		fc.property(changes, fc.boolean(), (all, isOneBucket) => {
			const orders = createStrangerOrders({
				max: 16,
				...(isOneBucket && { hashKeys: new Uint32Array(8) }),
			});
			const model = new Map<number, { amount: bigint; holding: string }>();
			for (const { number, isAdded, amount, holding } of all) {
				if (isAdded) {
					orders.add(order(number, { amount, holding }));
					if (!model.has(number)) model.set(number, { amount, holding });
				} else {
					orders.remove(orderIdAt(number));
					model.delete(number);
				}
			}
			const sums = new Map<string, bigint>();
			for (const { amount, holding } of model.values()) sums.set(holding, (sums.get(holding) ?? 0n) + amount);
			expect(new Map([...orders.owed].sort())).toEqual(new Map([...sums].sort()));
			expect(orders.count()).toBe(model.size);
			for (let number = 0; number <= 12; number++) {
				const found = orders.find(orderIdAt(number));
				expect(found).toEqual(
					model.has(number) ? { orderId: orderIdAt(number), block: number, refundableAt: 0 } : undefined,
				);
			}
		}),
	);
});

test("orders beyond the limit are in no sum, and neither are orders that could not be counted, which can still be found", () => {
	const orders = createStrangerOrders({ max: 2 });
	for (const number of [1, 2, 3]) orders.add(order(number));
	expect([orders.owed.get("usdc"), orders.count(), orders.uncounted()]).toEqual([2n, 2, 1]);
	orders.remove(orderIdAt(3));
	orders.remove(orderIdAt(1));
	orders.add(order(4));
	expect([orders.owed.get("usdc"), orders.count(), orders.uncounted()]).toEqual([2n, 2, 1]);
	orders.uncountAll();
	expect([orders.owed.get("usdc"), orders.count(), orders.uncounted()]).toEqual([undefined, 0, 3]);
	expect(orders.find(orderIdAt(4))).toMatchObject({ block: 4 });
	orders.remove(orderIdAt(2));
	orders.add(order(5));
	expect([orders.owed.get("usdc"), orders.count(), orders.uncounted()]).toEqual([1n, 1, 2]);
});
