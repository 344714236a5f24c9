import fc from "fast-check";
import { expect, test } from "vitest";
import { solanaChainId } from "../solana-chain-id.ts";
import { amountSchema, chainIdSchema, sealedTokenSchema, timeSchema } from "./fields.ts";

const accepts = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
	schema.safeParse(value).success;

test("every amount from 1 to 2^256 - 1 is accepted as a string, without loss", () => {
	fc.assert(
		fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), (amount) => {
			expect(amountSchema.parse(String(amount))).toBe(amount);
		}),
		{ examples: [[1n], [2n ** 256n - 1n]] },
	);
});

test("a JSON integer is accepted as an amount up to 2^53 - 1", () => {
	expect(amountSchema.parse(1)).toBe(1n);
	expect(amountSchema.parse(Number.MAX_SAFE_INTEGER)).toBe(2n ** 53n - 1n);
	const { error } = amountSchema.safeParse(2 ** 53);
	expect(JSON.stringify(error?.issues)).toContain("send a string");
});

test.each([
	...[0, -1, 1.5, 1e21, Number.NaN, Number.POSITIVE_INFINITY, true, null, undefined, [], {}],
	...["", "0", "00", "01", "-1", "+1", "1.0", "1e3", "0x10", " 1", "1 ", "1\n", "１", "1_000", "1,000"],
	String(2n ** 256n),
	"9".repeat(78),
	"9".repeat(79),
])("%j is not an amount", (value) => {
	expect(accepts(amountSchema, value)).toBe(false);
});

test("a chain id is accepted as an integer and as its decimal string", () => {
	fc.assert(
		fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (id) => {
			expect(chainIdSchema.parse(id)).toBe(id);
			expect(chainIdSchema.parse(String(id))).toBe(id);
		}),
	);
	expect(chainIdSchema.parse(String(solanaChainId))).toBe(792_703_809);
});

test.each([
	0,
	-1,
	1.5,
	2 ** 53,
	"0",
	"01",
	"-1",
	"0x1",
	"1.0",
	"",
	" 1",
	"1\n",
	"9007199254740992",
	"9".repeat(16),
	null,
])("%j is not a chain id", (value) => {
	expect(accepts(chainIdSchema, value)).toBe(false);
});

test("a sealed token can be any string that is not empty", () => {
	expect(accepts(sealedTokenSchema, " ")).toBe(true);
	expect(accepts(sealedTokenSchema, "")).toBe(false);
	expect(accepts(sealedTokenSchema, 1)).toBe(false);
});

test("a time must be in UTC with milliseconds, as toISOString writes it", () => {
	expect(accepts(timeSchema, new Date(0).toISOString())).toBe(true);
	expect(accepts(timeSchema, "1970-01-01T00:00:00Z")).toBe(false);
	expect(accepts(timeSchema, "1970-01-01T00:00:00.000+01:00")).toBe(false);
});
