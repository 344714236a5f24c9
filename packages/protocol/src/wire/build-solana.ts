import * as z from "zod";
import { hexSchema, sealedTokenSchema, timeSchema } from "./fields.ts";

/**
 * Everything that the transaction is made of. With the deployment, `order` and these parts are enough to make its bytes
 * again. `openTransaction` of this package does so, and docs/signing.md explains how.
 */
export const solanaOpSchema = z.object({
	chainId: z.int().describe("Solana's."),
	orderId: hexSchema.describe("The hash of the order."),
	order: z.record(z.string(), z.string()).describe("The order's terms: input, output and deadlines."),
	feePayer: z.string().describe("The service's key that pays the fee and is the first signer."),
	escrow: z.string().describe("The program that holds the input until the order is released or refunded."),
	blockhash: z.string().describe("The transaction's recent blockhash."),
	lastValidBlockHeight: z.string().describe("The last block height at which the transaction can land."),
	compute: z
		.object({
			unitLimit: z.int().describe("The transaction's limit of compute units."),
			microLamportsPerUnit: z
				.string()
				.describe("The priority fee for each compute unit, which the service pays."),
		})
		.describe("The values of the transaction's compute budget instructions."),
	message: z.string().describe("The message to sign, in base64: the transaction without its signatures."),
});
export type SolanaOp = z.infer<typeof solanaOpSchema>;

/** POST /swap/build-solana-tx. Its request is that of build-geo-op; an authorization is ignored. */
export const buildSolanaResponseSchema = z.object({
	unsignedTransaction: z.string().describe("The v0 transaction to sign unchanged, in base64."),
	geoOpToken: sealedTokenSchema.describe("The sealed op. Pass it to submit-solana unchanged."),
	expiresAt: timeSchema.describe(
		"When the op expires. Submit it before then; the same submit may be repeated later.",
	),
	geoOp: solanaOpSchema.describe("Everything that the transaction is built from. Check it before signing."),
});
export type BuildSolanaResponse = z.infer<typeof buildSolanaResponseSchema>;
