import fc from "fast-check";
import { expect, test } from "vitest";
import { leavesTimeToSettle, packDeadlines, unpackDeadlines } from "./deadlines.ts";

test("deadlines round-trip through packing, and two equal deadlines are refused", () => {
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
});

test("deadlines that do not fit into 64 bits are refused", () => {
	expect(() => packDeadlines({ openDeadline: -1n, fillDeadline: 1n, refundAfter: 2n })).toThrow(RangeError);
	expect(() => packDeadlines({ openDeadline: 0n, fillDeadline: 1n, refundAfter: 2n ** 64n })).toThrow(
		RangeError,
	);
	expect(() => unpackDeadlines(2n ** 192n)).toThrow(RangeError);
});

test("deadlines leave time only if both chains can be final within each of their two gaps", () => {
	const [openDeadline, fillDeadline, refundAfter] = [100n, 131n, 162n];
	const deadlines = { openDeadline, fillDeadline, refundAfter };
	expect(leavesTimeToSettle(deadlines, 30n)).toBe(true);
	expect(leavesTimeToSettle(deadlines, 31n)).toBe(false);
	expect(leavesTimeToSettle({ ...deadlines, openDeadline: 101n }, 30n)).toBe(false);
	expect(leavesTimeToSettle({ ...deadlines, refundAfter: 161n }, 30n)).toBe(false);
});
