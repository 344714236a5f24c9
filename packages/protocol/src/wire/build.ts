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

/**
 * Everything that geoOpHash is made of. `order` and `op` are enough to compute the hash again: `orderUserOp` of this
 * package does so, and docs/signing.md says how.
 */
export const geoOpSchema = z.object({
	entryPoint: z.string().describe("The ERC-4337 EntryPoint that executes the op."),
	chainId: z.int().describe("The origin chain."),
	orderId: hexSchema.describe("The hash of the order."),
	order: z.record(z.string(), z.string()).describe("The order's terms: input, output and deadlines."),
	delegate: z.string().describe("The contract that the wallet is, or will be, delegated to."),
	allowance: z.string().describe("The allowance that the wallet has already given the escrow."),
	gas: z
		.object({
			verificationGasLimit: z.string().describe("Gas limit for checking the signature."),
			callGasLimit: z.string().describe("Gas limit for the wallet's calls."),
		})
		.describe("The op's gas limits. The service pays for the gas."),
	calls: z
		.array(
			z.object({
				to: z.string().describe("The contract that is called."),
				value: z.string().describe("The amount of the native token sent with the call, in wei."),
				data: hexSchema.describe("The ABI-encoded call."),
			}),
		)
		.describe("The calls that the wallet makes, in order. All of them succeed, or none has an effect."),
	userOp: z
		.object({
			sender: z.string().describe("The wallet."),
			nonce: z
				.string()
				.describe("The swap's id as the nonce key, with sequence 0. Each swap has its own key."),
			initCode: hexSchema.describe(
				"The EIP-7702 marker of ERC-4337, since the sender is a delegated wallet.",
			),
			callData: hexSchema.describe("`calls`, encoded for the contract that the wallet is delegated to."),
			accountGasLimits: hexSchema.describe("The two limits of `gas`, packed."),
			preVerificationGas: z.string().describe("Zero: the service bundles the op itself."),
			gasFees: hexSchema.describe("Zero: the wallet pays no gas."),
			paymasterAndData: hexSchema.describe("`0x`: there is no paymaster."),
		})
		.describe("The user operation that `geoOpHash` is the hash of."),
});
export type GeoOp = z.infer<typeof geoOpSchema>;

export const buildResponseSchema = z.object({
	geoOpHash: z
		.string()
		.regex(/^0x[0-9a-f]{64}$/)
		.describe("The 32 bytes to sign with `personal_sign`. Sign the bytes, not their hex text."),
	geoOpToken: sealedTokenSchema.describe("The sealed op. Pass it to submit unchanged."),
	expiresAt: timeSchema.describe(
		"When the op expires. Submit it before then; the same submit may be repeated later.",
	),
	geoOp: geoOpSchema.describe("Everything that the hash is computed from. Check it before signing."),
});
export type BuildResponse = z.infer<typeof buildResponseSchema>;
