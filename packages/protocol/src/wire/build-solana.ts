import * as z from "zod";
import { hexSchema, sealedTokenSchema, timeSchema } from "./fields.ts";

/**
 * Everything that the transaction is made of. With the deployment, `order` and these parts are enough to make its bytes
 * again: `orderTransaction` of this package does, and docs/signing.md says how.
 */
export const solanaOpSchema = z.object({
	chainId: z.int(),
	orderId: hexSchema,
	order: z.record(z.string(), z.string()),
	feePayer: z.string(),
	escrow: z.string(),
	blockhash: z.string(),
	lastValidBlockHeight: z.string(),
	compute: z.object({ unitLimit: z.int(), microLamportsPerUnit: z.string() }),
	/** The message that is signed, in base64: the transaction without the places for its signatures. */
	message: z.string(),
});
export type SolanaOp = z.infer<typeof solanaOpSchema>;

/** POST /swap/build-solana-tx. Its request is that of build-geo-op; an authorization is ignored. */
export const buildSolanaResponseSchema = z.object({
	/** Base64. */
	unsignedTransaction: z.string(),
	geoOpToken: sealedTokenSchema,
	/** The last moment for a first submit. */
	expiresAt: timeSchema,
	geoOp: solanaOpSchema,
});
export type BuildSolanaResponse = z.infer<typeof buildSolanaResponseSchema>;
