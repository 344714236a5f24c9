import { SwapError } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, toHex } from "viem";
import { expect, test } from "vitest";
import { normalizeSignature } from "./normalize-signature.ts";

const wallet = "0x00000000000000000000000000000000000000A1";
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const half = order / 2n;
const word = (n: bigint) => toHex(n, { size: 32 }).slice(2);
const normalize = (text: string) => normalizeSignature(text, { wallet });

const signatures = fc.record({
	r: fc.bigInt({ min: 1n, max: order - 1n }),
	s: fc.oneof(fc.bigInt({ min: 1n, max: half }), fc.constant(half)),
	yParity: fc.constantFrom(0, 1),
});

test("all spellings of a signature have the same normal form", () => {
	fc.assert(
		fc.property(signatures, fc.boolean(), fc.boolean(), ({ r, s, yParity }, isUpper, hasPrefix) => {
			const normal: Hex = `0x${word(r)}${word(s)}${yParity ? "1c" : "1b"}`;
			const compact = `${word(r)}${word(s | (BigInt(yParity) << 255n))}`;
			for (const digits of [normal.slice(2), `${word(r)}${word(s)}0${yParity}`, compact]) {
				const text = `${hasPrefix ? "0x" : ""}${isUpper ? digits.toUpperCase() : digits}`;
				expect(normalize(text)).toBe(normal);
			}
		}),
	);
});

test("a signature with a high s is refused in each spelling that can hold it", () => {
	fc.assert(
		fc.property(signatures, ({ r, s, yParity }) => {
			const twin = `${word(r)}${word(order - s)}`;
			for (const v of [`0${1 - yParity}`, yParity ? "1b" : "1c"]) {
				expect(() => normalize(`${twin}${v}`)).toThrow(
					expect.objectContaining({ code: "INVALID_SIGNATURE" }),
				);
			}
		}),
	);
});

test("any other text is malformed", () => {
	const whole = "11".repeat(64);
	for (const text of [
		"",
		"0x",
		"0x12",
		whole.slice(2),
		`${whole}1b00`,
		`${whole}1d`,
		`${whole}02`,
		` ${whole}1b`,
		"zz".repeat(65),
	]) {
		expect(() => normalize(text), text).toThrow(SwapError);
		expect(() => normalize(text), text).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
	}
});
