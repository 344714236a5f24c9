import * as z from "zod";
import { chainIdSchema, openEnum } from "./fields.ts";

/** GET /swap/delegation. */
export const delegationQuerySchema = z.strictObject({
	chainId: chainIdSchema.describe("The origin chain."),
	walletAddress: z.string().min(1).describe("The wallet's address, in the chain's own format."),
});
export type DelegationQuery = z.output<typeof delegationQuerySchema>;

export const delegationResponseSchema = z.object({
	chainId: z.int().describe("The origin chain."),
	walletAddress: z.string().describe("The wallet's address, in the chain's own format."),
	delegated: z.boolean().describe("Whether the wallet is delegated on this chain, to any contract."),
	originReady: z.boolean().describe("Whether a build needs no authorization. Branch on this field."),
	delegatedTo: z.string().optional().describe("The contract that the wallet is delegated to."),
	delegationTarget: z
		.string()
		.optional()
		.describe("Sign it as the authorization's `address`. Present if the wallet is not delegated."),
	accountNonce: z
		.int()
		.optional()
		.describe(
			"Sign it as the authorization's `nonce`, to delegate the wallet or to remove its delegation. Absent if the wallet is blocked.",
		),
	blocked: z
		.literal("UNSUPPORTED_DELEGATION")
		.optional()
		.describe("Why this wallet can never swap from this chain. Use another wallet."),
	note: z
		.string()
		.optional()
		.describe("What to do if there is nothing to sign: on Solana, or if the wallet is blocked."),
});
export type DelegationResponse = z.infer<typeof delegationResponseSchema>;

/** POST /delegation/remove. The authorization's form is checked apart, as in a build. */
export const removeDelegationRequestSchema = z.object({
	chainId: chainIdSchema.describe("The chain on which the wallet is delegated."),
	walletAddress: z.string().min(1).describe("The wallet's address."),
	authorization: z.unknown(),
});

export const removeDelegationResponseSchema = z.object({
	chainId: z.int().describe("The chain."),
	walletAddress: z.string().describe("The wallet's address."),
	removal: openEnum(["none", "queued"]).describe(
		"`queued`: the service sends the authorization; poll GET /swap/delegation until `delegated` is false. `none`: the wallet is not delegated, and nothing is sent.",
	),
});
export type RemoveDelegationResponse = z.infer<typeof removeDelegationResponseSchema>;
