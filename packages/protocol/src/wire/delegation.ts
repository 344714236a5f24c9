import * as z from "zod";
import { chainIdSchema, openEnum } from "./fields.ts";

/** GET /swap/delegation. */
export const delegationQuerySchema = z.strictObject({
	chainId: chainIdSchema.describe("The origin chain."),
	walletAddress: z.string().min(1).describe("The wallet's address, in the chain's own format."),
	token: z
		.string()
		.min(1)
		.optional()
		.describe("A token of this service on that chain. The response then has the wallet's `balance` of it."),
});
export type DelegationQuery = z.output<typeof delegationQuerySchema>;

export const delegationResponseSchema = z.object({
	chainId: z.int().describe("The origin chain."),
	walletAddress: z.string().describe("The wallet's address, in the chain's own format."),
	delegated: z.boolean().describe("Whether the wallet is delegated on this chain, to any contract."),
	originReady: z.boolean().describe("Whether a build needs no authorization. Branch on this field."),
	delegatedTo: z.string().optional().describe("The contract that the wallet is delegated to."),
	accepts: z
		.array(openEnum(["personal", "typed"]))
		.optional()
		.describe(
			"How the wallet may sign orders, by the contract that it is delegated to. Present if it is ready.",
		),
	delegationTarget: z
		.string()
		.optional()
		.describe("Sign it as the authorization's `address`. Present if the wallet needs an authorization."),
	typedDelegationTarget: z
		.string()
		.optional()
		.describe(
			"Sign it in place of `delegationTarget` if the wallet is to accept typed data only and refuse `personal_sign`.",
		),
	accountNonce: z
		.int()
		.optional()
		.describe(
			"Sign it as the authorization's `nonce`, to delegate the wallet or to remove its delegation. Absent if the wallet is blocked.",
		),
	mandateEpoch: z
		.int()
		.optional()
		.describe(
			"How often the wallet's mandates were revoked on this chain. Sign it as the revocation's `epoch`, to remove the delegation.",
		),
	mandateEscrow: z
		.string()
		.optional()
		.describe(
			"The contract in whose EIP-712 domain the revocation is signed. Present if the wallet is delegated to a contract of this service.",
		),
	blocked: z
		.literal("UNSUPPORTED_DELEGATION")
		.optional()
		.describe("Why this wallet can never swap from this chain. Use another wallet."),
	balance: z
		.string()
		.optional()
		.describe("The wallet's balance of `token`, in the smallest unit. Present if the request has a `token`."),
	note: z
		.string()
		.optional()
		.describe("What to do if there is nothing to sign: on Solana, or if the wallet is blocked."),
});
export type DelegationResponse = z.infer<typeof delegationResponseSchema>;

/** POST /delegation/remove. The authorization's form is checked separately, as in a build. */
export const removeDelegationRequestSchema = z.object({
	chainId: chainIdSchema.describe("The chain on which the wallet is delegated."),
	walletAddress: z.string().min(1).describe("The wallet's address."),
	authorization: z.unknown(),
	revocation: z
		.string()
		.describe(
			"The wallet's EIP-712 signature of `RevokeMandates(address wallet,uint64 epoch)`, in hex: its mandates are revoked before the removal, because they would be good again after the next delegation.",
		),
});

export const removeDelegationResponseSchema = z.object({
	chainId: z.int().describe("The chain."),
	walletAddress: z.string().describe("The wallet's address."),
	removal: openEnum(["none", "queued"]).describe(
		"`queued`: the service sends the revocation and then the authorization; poll GET /swap/delegation until `delegated` is false. `none`: the wallet is not delegated, and nothing is sent.",
	),
});
export type RemoveDelegationResponse = z.infer<typeof removeDelegationResponseSchema>;
