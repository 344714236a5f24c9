import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { sealedTokenSchema, swapIdSchema } from "./fields.ts";

/** POST /swap/submit. The signature's form is checked after the token is opened. */
export const submitRequestSchema = z.object({
	geoOpToken: sealedTokenSchema.describe("`geoOpToken` of build-geo-op, unchanged."),
	signature: z
		.string()
		.describe(
			"The wallet's signature over the 32 bytes of `geoOpHash`, by `personal_sign` (EIP-191), in hex: 65 bytes with v 27, 28, 0 or 1, or 64 bytes as in EIP-2098. `0x` is optional.",
		),
});

/** POST /swap/submit-solana. The transaction's form is checked after the token is opened. */
export const submitSolanaRequestSchema = z.object({
	geoOpToken: sealedTokenSchema.describe("`geoOpToken` of build-solana-tx, unchanged."),
	signedTransaction: z
		.string()
		.describe("`unsignedTransaction` with the wallet's signature added, in base64."),
});

export const submitResponseSchema = z.object({
	swapId: swapIdSchema.describe("The swap's id, for GET /swap/status/{swapId}."),
	status: z
		.enum(swapStatuses)
		.describe("`pending` for a new swap. A replay returns the swap's current status."),
});
export type SubmitResponse = z.infer<typeof submitResponseSchema>;
