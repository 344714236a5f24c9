import type { UsdE18 } from "@geoswap/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { explainChange, priceAt, value36 } from "./explain-change.ts";
import type { PriceMark } from "./price-marks.ts";

const blockArbitrary = fc.integer({ min: 1, max: 60 });
const amountArbitrary = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const marksArbitrary = fc
	.uniqueArray(
		fc.record({
			blockNumber: blockArbitrary,
			usdE18: fc.bigInt({ min: 1n, max: 10n ** 24n }).map((price) => price as UsdE18),
		}),
		{ selector: ({ blockNumber }) => blockNumber, minLength: 1, maxLength: 20 },
	)
	.map((marks) => marks.toSorted((one, other) => one.blockNumber - other.blockNumber));

test("flows and positions add up to the change of value, to the last digit", () => {
	fc.assert(
		fc.property(
			fc.bigInt({ min: 0n, max: 10n ** 30n }),
			fc.integer({ min: 0, max: 18 }),
			fc.integer({ min: 0, max: 30 }),
			fc.integer({ min: 31, max: 60 }),
			fc.array(fc.record({ blockNumber: blockArbitrary, amount: amountArbitrary }), { maxLength: 30 }),
			marksArbitrary,
			(opening, decimals, after, upTo, all, marks) => {
				const changes = all.filter(({ blockNumber }) => blockNumber > after && blockNumber <= upTo);
				const explained = explainChange({ opening, decimals, after, upTo, changes, marks });
				const closing = changes.reduce((sum, { amount }) => sum + amount, opening);
				const valueAt = (amount: bigint, block: number) =>
					value36(amount, { decimals, usdE18: priceAt(marks, block) as UsdE18 });
				expect((explained?.flows36 ?? 0n) + (explained?.positions36 ?? 0n)).toBe(
					valueAt(closing, upTo) - valueAt(opening, after),
				);
			},
		),
	);
});

test("a change that is left out, or counted twice, shows in the sum", () => {
	const marks: PriceMark[] = [{ blockNumber: 1, usdE18: (2n * 10n ** 18n) as UsdE18 }];
	const terms = { opening: 10n, decimals: 6, after: 1, upTo: 9, marks };
	const [change] = [{ blockNumber: 5, amount: 7n }];
	const worth = (amount: bigint) => value36(amount, { decimals: 6, usdE18: marks[0]?.usdE18 as UsdE18 });
	for (const [changes, counted] of [
		[[], 0n],
		[[change], 7n],
		[[change, change], 14n],
	] as const) {
		expect(explainChange({ ...terms, changes })?.flows36).toBe(worth(counted));
	}
});

test("a change in the block of a mark has the new price, and one before the first mark has its price", () => {
	const usd = (price: bigint) => (price * 10n ** 18n) as UsdE18;
	const marks = [
		{ blockNumber: 5, usdE18: usd(2n) },
		{ blockNumber: 7, usdE18: usd(3n) },
	];
	const at = (blockNumber: number) =>
		explainChange({
			opening: 0n,
			decimals: 0,
			after: 0,
			upTo: 9,
			changes: [{ blockNumber, amount: 1n }],
			marks,
		});
	expect(at(1)).toMatchObject({ flows36: value36(1n, { decimals: 0, usdE18: usd(2n) }) });
	expect(at(6)).toMatchObject({ flows36: value36(1n, { decimals: 0, usdE18: usd(2n) }) });
	expect(at(7)).toMatchObject({ flows36: value36(1n, { decimals: 0, usdE18: usd(3n) }), positions36: 0n });
	expect(
		explainChange({ opening: 1n, decimals: 0, after: 0, upTo: 9, changes: [], marks: [] }),
	).toBeUndefined();
});
