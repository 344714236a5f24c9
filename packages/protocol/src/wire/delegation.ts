import * as z from "zod";
import { chainIdSchema } from "./fields.ts";

/** GET /swap/delegation. */
export const delegationQuerySchema = z.object({
	chainId: chainIdSchema,
	walletAddress: z.string().min(1),
});
export type DelegationQuery = z.output<typeof delegationQuerySchema>;

export const delegationResponseSchema = z.object({
	chainId: z.int(),
	walletAddress: z.string(),
	delegated: z.boolean(),
	/** A build needs no authorization. */
	originReady: z.boolean(),
	delegatedTo: z.string().optional(),
	/** The two fields to sign, where the wallet has no delegation. */
	delegationTarget: z.string().optional(),
	accountNonce: z.int().optional(),
	blocked: z.literal("UNSUPPORTED_DELEGATION").optional(),
});
export type DelegationResponse = z.infer<typeof delegationResponseSchema>;
