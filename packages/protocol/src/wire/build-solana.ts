import * as z from "zod";
import { hexSchema, sealedTokenSchema, timeSchema } from "./fields.ts";

/**
 * Everything that the transaction is made of. With the deployment, `order` and these parts are enough to make its bytes
 * again: `orderTransaction` of this package does so, and docs/signing.md says how.
 */
export const solanaOpSchema = z.object({
	chainId: z.int().describe("Solana's."),
	orderId: hexSchema.describe("The hash of the order."),
	order: z.record(z.string(), z.string()).describe("The terms: what is given, what is owed, by when."),
	feePayer: z.string().describe("Who pays the fee and signs first: the service."),
	escrow: z.string().describe("Who holds the input until it is delivered or refunded."),
	blockhash: z.string().describe("The recent blockhash that the transaction names."),
	lastValidBlockHeight: z.string().describe("Above this height the transaction can no longer land."),
	compute: z
		.object({
			unitLimit: z.int().describe("How many compute units it may use."),
			microLamportsPerUnit: z.string().describe("The priority fee for each, which the service pays."),
		})
		.describe("What the transaction's compute budget instructions say."),
	message: z
		.string()
		.describe(
			"The message that is signed, in base64: the transaction without the places for its signatures.",
		),
});
export type SolanaOp = z.infer<typeof solanaOpSchema>;

/** POST /swap/build-solana-tx. Its request is that of build-geo-op; an authorization is ignored. */
export const buildSolanaResponseSchema = z.object({
	unsignedTransaction: z.string().describe("The v0 transaction to sign as it is, in base64."),
	geoOpToken: sealedTokenSchema.describe("The sealed op: pass it on to submit as it is."),
	expiresAt: timeSchema.describe("The last moment for a first submit."),
	geoOp: solanaOpSchema.describe("Everything that the transaction is made of, to be checked before signing."),
});
export type BuildSolanaResponse = z.infer<typeof buildSolanaResponseSchema>;
