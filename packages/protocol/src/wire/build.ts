import type { Hex } from "viem";
import * as z from "zod";
import { hexSchema, optional, sealedTokenSchema, timeSchema } from "./fields.ts";

const integerSchema = z
	.union([
		z.int().nonnegative(),
		z.string().regex(/^(0|[1-9]\d{0,18}|0x[0-9a-fA-F]{1,16})$/, "not a whole number"),
	])
	.transform((value) => BigInt(value));

const scalarSchema = z
	.string()
	.regex(/^(0x)?[0-9a-fA-F]{1,64}$/, "not 32 bytes of hex")
	.transform((text): Hex => `0x${text.replace(/^0x/, "").padStart(64, "0").toLowerCase()}`);

/** A signed EIP-7702 authorization. Only its form is checked here; whether it fits the wallet is checked later. */
export const authorizationSchema = z.object({
	chainId: integerSchema.describe("The origin chain. Zero, which would be valid on every chain, is refused."),
	address: z
		.string()
		.regex(/^0x[0-9a-fA-F]{40}$/, "not an address")
		.transform((text) => text as Hex)
		.describe("`delegationTarget` of GET /swap/delegation."),
	nonce: integerSchema.describe("`accountNonce` of GET /swap/delegation."),
	yParity: integerSchema.refine((value) => value <= 1n, "must be 0 or 1").describe("0 or 1."),
	r: scalarSchema.describe("32 bytes of hex; `0x` is optional."),
	s: scalarSchema.describe("32 bytes of hex; `0x` is optional."),
});
export type Authorization = z.output<typeof authorizationSchema>;
export type AuthorizationBody = {
	chainId: number | string;
	address: string;
	nonce: number | string;
	yParity: number | string;
	r: string;
	s: string;
};

/** POST /swap/build-geo-op. The authorization's form is checked after the token is opened. */
export const buildRequestSchema = z.object({
	geoQuoteToken: sealedTokenSchema.describe("`geoQuoteToken` of the quote, unchanged."),
	authorization: optional(z.unknown()),
});

const typedDataFieldSchema = z.object({
	name: z.string().describe("The field's name."),
	type: z.string().describe("The field's Solidity type."),
});

/**
 * Everything that geoOpHash is made of. `order` is enough to compute the hash again. `orderDigest` of this package does
 * so, and docs/signing.md explains how.
 */
export const geoOpSchema = z.object({
	chainId: z.int().describe("The origin chain."),
	orderId: hexSchema.describe("The order's EIP-712 struct hash."),
	order: z.record(z.string(), z.string()).describe("The order's terms: input, output and deadlines."),
	delegate: z.string().describe("The contract that the wallet is, or will be, delegated to."),
	typedData: z
		.object({
			domain: z
				.object({
					name: z.string().describe("The domain's name."),
					version: z.string().describe("The domain's version."),
					chainId: z.int().describe("The origin chain."),
					verifyingContract: z.string().describe("The escrow that takes the input."),
				})
				.describe("The EIP-712 domain."),
			types: z.record(z.string(), z.array(typedDataFieldSchema)).describe("The EIP-712 types."),
			primaryType: z.string().describe("`Order`."),
			message: z.record(z.string(), z.string()).describe("The order's fields. Numbers are decimal strings."),
		})
		.describe("The order as EIP-712 typed data, for `eth_signTypedData_v4`. Its digest is `geoOpHash`."),
});
export type GeoOp = z.infer<typeof geoOpSchema>;

export const buildResponseSchema = z.object({
	geoOpHash: z
		.string()
		.regex(/^0x[0-9a-f]{64}$/)
		.describe(
			"The 32 bytes to sign with `personal_sign`, or to compare with the digest of `geoOp.typedData` if that is signed. Sign the bytes, not their hex text.",
		),
	geoOpToken: sealedTokenSchema.describe("The sealed op. Pass it to submit unchanged."),
	expiresAt: timeSchema.describe(
		"When the op expires. Submit it before then; the same submit may be repeated later.",
	),
	geoOp: geoOpSchema.describe("Everything that the hash is computed from. Check it before signing."),
});
export type BuildResponse = z.infer<typeof buildResponseSchema>;
