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

/** A signed EIP-7702 authorization. Its form only: whether it fits the wallet is asked later. */
export const authorizationSchema = z.object({
	chainId: integerSchema,
	address: z
		.string()
		.regex(/^0x[0-9a-fA-F]{40}$/, "not an address")
		.transform((text) => text as Hex),
	nonce: integerSchema,
	yParity: integerSchema.refine((value) => value <= 1n, "must be 0 or 1"),
	r: scalarSchema,
	s: scalarSchema,
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
	geoQuoteToken: sealedTokenSchema,
	authorization: optional(z.unknown()),
});

/**
 * Everything that geoOpHash is made of. `order` and `op` are enough to compute the hash again: `orderUserOp` of this
 * package does, and docs/signing.md says how.
 */
export const geoOpSchema = z.object({
	entryPoint: z.string(),
	chainId: z.int(),
	orderId: hexSchema,
	order: z.record(z.string(), z.string()),
	delegate: z.string(),
	allowance: z.string(),
	gas: z.object({ verificationGasLimit: z.string(), callGasLimit: z.string() }),
	calls: z.array(z.object({ to: z.string(), value: z.string(), data: hexSchema })),
	userOp: z.object({
		sender: z.string(),
		nonce: z.string(),
		initCode: hexSchema,
		callData: hexSchema,
		accountGasLimits: hexSchema,
		preVerificationGas: z.string(),
		gasFees: hexSchema,
		paymasterAndData: hexSchema,
	}),
});
export type GeoOp = z.infer<typeof geoOpSchema>;

export const buildResponseSchema = z.object({
	geoOpHash: hexSchema,
	geoOpToken: sealedTokenSchema,
	/** The last moment for a first submit. */
	expiresAt: timeSchema,
	geoOp: geoOpSchema,
});
export type BuildResponse = z.infer<typeof buildResponseSchema>;
