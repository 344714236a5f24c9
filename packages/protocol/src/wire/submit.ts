import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { sealedTokenSchema } from "./fields.ts";

/** POST /swap/submit. The signature's form is checked after the token is opened. */
export const submitRequestSchema = z.object({ geoOpToken: sealedTokenSchema, signature: z.string() });

/** POST /swap/submit-solana. The transaction's form is checked after the token is opened. */
export const submitSolanaRequestSchema = z.object({
	geoOpToken: sealedTokenSchema,
	signedTransaction: z.string(),
});

export const submitResponseSchema = z.object({ swapId: z.string(), status: z.enum(swapStatuses) });
export type SubmitResponse = z.infer<typeof submitResponseSchema>;
