import * as z from "zod";
import { chainIdSchema } from "./fields.ts";

/** GET /swap/delegation. */
export const delegationQuerySchema = z.strictObject({
	chainId: chainIdSchema.describe("The origin chain."),
	walletAddress: z.string().min(1).describe("The wallet, in the chain's own form."),
});
export type DelegationQuery = z.output<typeof delegationQuerySchema>;

export const delegationResponseSchema = z.object({
	chainId: z.int().describe("As asked."),
	walletAddress: z.string().describe("As asked, in the form that its chain writes it."),
	delegated: z.boolean().describe("Whether the wallet is delegated on this chain, to whomever."),
	originReady: z.boolean().describe("Whether a build needs no authorization. Branch on this one."),
	delegatedTo: z.string().optional().describe("To which contract it is delegated."),
	delegationTarget: z
		.string()
		.optional()
		.describe("To be signed as the authorization's `address`, where the wallet is not delegated."),
	accountNonce: z
		.int()
		.optional()
		.describe("To be signed as the authorization's `nonce`, where the wallet is not delegated."),
	blocked: z
		.literal("UNSUPPORTED_DELEGATION")
		.optional()
		.describe("Why this wallet can never swap from this chain: use another one."),
	note: z
		.string()
		.optional()
		.describe("What to do where there is nothing to sign: on Solana, and where the wallet is blocked."),
});
export type DelegationResponse = z.infer<typeof delegationResponseSchema>;
