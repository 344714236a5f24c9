import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { sealedTokenSchema, swapIdSchema } from "./fields.ts";

/** POST /swap/submit. The signature's form is checked after the token is opened. */
export const submitRequestSchema = z.object({
	geoOpToken: sealedTokenSchema.describe("As build-geo-op has it."),
	signature: z
		.string()
		.describe(
			"The wallet's over the 32 bytes of `geoOpHash`, by `personal_sign` (EIP-191): 65 bytes of hex, v 27, 28, 0 or 1, or 64 bytes by EIP-2098. `0x` is optional.",
		),
});

/** POST /swap/submit-solana. The transaction's form is checked after the token is opened. */
export const submitSolanaRequestSchema = z.object({
	geoOpToken: sealedTokenSchema.describe("As build-solana-tx has it."),
	signedTransaction: z
		.string()
		.describe("`unsignedTransaction` with the wallet's signature in its place, in base64."),
});

export const submitResponseSchema = z.object({
	swapId: swapIdSchema.describe("What to ask the status of."),
	status: z.enum(swapStatuses).describe("`pending` for a new swap; a replay has the current one."),
});
export type SubmitResponse = z.infer<typeof submitResponseSchema>;
