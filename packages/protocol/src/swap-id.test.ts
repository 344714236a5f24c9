import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import {
	firstSwapUuidAt,
	fromSwapId,
	fromSwapKey,
	newSwapUuid,
	spareSwapUuid,
	swapUuidTimeMs,
	toSwapId,
	toSwapKey,
} from "./swap-id.ts";

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const uuids = fc.record({ nowMs: time, random }).map(newSwapUuid);

test("the UUID of a swap round-trips through its id and through its key", () => {
	fc.assert(
		fc.property(uuids, (uuid) => {
			expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
			expect(toSwapId(uuid)).toMatch(/^swp_[0-9a-z]{26}$/);
			expect(fromSwapId(toSwapId(uuid))).toBe(uuid);
			expect(fromSwapKey(toSwapKey(uuid))).toBe(uuid);
			expect(toSwapKey(uuid)).toHaveLength(66);
		}),
	);
});

test("ids sort by creation time, and the bound of a partition sorts before every id of its time", () => {
	fc.assert(
		fc.property(time, time, random, random, (a, b, one, two) => {
			const [first, second] = [
				newSwapUuid({ nowMs: Math.min(a, b), random: one }),
				newSwapUuid({ nowMs: Math.max(a, b), random: two }),
			];
			expect(swapUuidTimeMs(first)).toBe(Math.min(a, b));
			if (a !== b) {
				expect(first < second).toBe(true);
				expect(toSwapId(first) < toSwapId(second)).toBe(true);
			}
			const bound = firstSwapUuidAt(Math.max(a, b));
			expect(bound < second).toBe(true);
			if (a !== b) expect(first < bound).toBe(true);
		}),
	);
});

test("a spare id keeps the time of the original id, and differs between orders", () => {
	const orderIds = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));
	fc.assert(
		fc.property(uuids, orderIds, (uuid, orderId) => {
			const spare = spareSwapUuid({ swapKey: toSwapKey(uuid), orderId });
			expect(swapUuidTimeMs(spare)).toBe(swapUuidTimeMs(uuid));
			expect(fromSwapId(toSwapId(spare))).toBe(spare);
			const other = toHex(BigInt(orderId) ^ (1n << 240n), { size: 32 });
			expect(spareSwapUuid({ swapKey: toSwapKey(uuid), orderId: other })).not.toBe(spare);
		}),
	);
});

test("a swap id has only one valid spelling", () => {
	const id = toSwapId(newSwapUuid({ nowMs: 1_800_000_000_000, random: new Uint8Array(10).fill(0xab) }));
	for (const other of [
		id.toUpperCase(),
		id.replace("swp_", "SWP_"),
		` ${id}`,
		`${id} `,
		`${id}0`,
		id.slice(0, -1),
		id.slice(4),
		id.replace("swp_", "swap_"),
		id.replace("swp_", "_"),
		id.replace("swp_", "swp__"),
		// Crockford's alphabet reads these as digits.
		...["i", "l", "o", "u"].map((letter) => `swp_0${letter}${id.slice(6)}`),
		// More than 128 bits.
		`swp_8${id.slice(5)}`,
		"",
		"swp_",
	]) {
		expect(fromSwapId(other), other).toBeUndefined();
	}
	fc.assert(
		fc.property(fc.string(), fc.nat({ max: 29 }), (text, at) => {
			const changed = id.slice(0, at) + text + id.slice(at + text.length);
			const uuid = fromSwapId(changed);
			if (uuid !== undefined) expect(toSwapId(uuid)).toBe(changed);
		}),
	);
});

test("a swap key larger than a UUID is refused, and so are too few random bytes", () => {
	expect(() => fromSwapKey(toHex(2n ** 128n, { size: 32 }))).toThrow(RangeError);
	expect(() => newSwapUuid({ nowMs: 0, random: new Uint8Array(9) })).toThrow(RangeError);
});
