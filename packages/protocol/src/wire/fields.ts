import * as z from "zod";
import { errorCodes, nextSteps } from "../error-code.ts";

/** A chain's id: an integer or its decimal string. */
export const chainIdSchema = z
	.union([
		z.int().positive(),
		z
			.string()
			.regex(/^[1-9]\d{0,15}$/, "not a chain id")
			// Above this limit, two ids would become the same number.
			.refine((text) => Number(text) <= Number.MAX_SAFE_INTEGER, "not a chain id"),
	])
	.transform((id) => Number(id));

const maxUint256 = (1n << 256n) - 1n;

/** An amount in smallest units: a decimal string, or a whole number that JSON carries exactly. */
export const amountSchema = z
	.union([
		z
			.string()
			.regex(/^[1-9]\d{0,77}$/, "must be digits only, without a leading zero, and at least 1")
			.refine((text) => !/^[1-9]\d{0,77}$/.test(text) || BigInt(text) <= maxUint256, "is above 2^256 - 1"),
		z
			.number()
			.refine((n) => Number.isInteger(n) && n >= 1, "must be a whole number of smallest units, at least 1")
			.refine((n) => n <= Number.MAX_SAFE_INTEGER, "is too large for a JSON number; send a string")
			// Repeats the refinements for the API's OpenAPI document.
			.meta({ type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
	])
	.transform((amount) => BigInt(amount));

/** An amount in a response. It may be zero. */
export const amountTextSchema = z.string().regex(/^(0|[1-9]\d{0,77})$/);

/** An indicative value: a decimal string with at least two decimals. */
export const usdSchema = z.string().regex(/^\d+\.\d{2,}$/);

export const pausedSchema = z
	.string()
	.describe("Why nothing from or to the chain is quoted. Present only while the chain is paused.");

export const swapIdSchema = z.string().regex(/^swp_[0-7][0-9a-hjkmnp-tv-z]{25}$/);

/** ISO 8601 in UTC with milliseconds. */
export const timeSchema = z.iso.datetime({ precision: 3 });

/** A time in a query: ISO 8601 with any time zone. It becomes milliseconds. */
export const filteredTimeSchema = z.iso
	.datetime({ offset: true, error: "must be a time like 2026-06-01T12:00:00Z" })
	.transform((text) => Date.parse(text));

/** A sealed token. Any non-empty string has the right form, but only the exact bytes that were issued can be opened. */
export const sealedTokenSchema = z.string().min(1);

export const hexSchema = z.string().regex(/^0x[0-9a-fA-F]*$/);

export const transactionHashSchema = z.string().regex(/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/i);

/** Returns an enum that may grow within a version, and is marked so in the OpenAPI document. */
export function openEnum<const Values extends readonly [string, ...string[]]>(values: Values) {
	return z.enum(values).meta({ "x-extensible-enum": true });
}

/** Makes a field optional, and treats null as absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
	return schema.nullish().transform((value) => value ?? undefined) as unknown as z.ZodType<
		z.output<Schema> | undefined
	>;
}

export const errorBodySchema = z.object({
	code: z.enum(errorCodes),
	message: z.string(),
	next: z.enum(nextSteps),
	retryable: z.boolean(),
	requestId: z.string(),
	details: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
