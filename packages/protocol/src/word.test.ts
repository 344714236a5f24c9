import fc from "fast-check";
import { toHex } from "viem";
import { expect, test } from "vitest";
import { fromWord, toWord } from "./word.ts";

test("an address round-trips through its 32-byte word", () => {
	fc.assert(
		fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
			expect(fromWord(toWord(toHex(bytes))).toLowerCase()).toBe(toHex(bytes));
		}),
	);
});

test("a word larger than an address is refused, and so is a value that is not a 20-byte address", () => {
	expect(() => fromWord(toHex(2n ** 160n, { size: 32 }))).toThrow(RangeError);
	expect(() => toWord("0x1234")).toThrow(RangeError);
	expect(() => toWord(toHex(1, { size: 32 }))).toThrow(RangeError);
});
