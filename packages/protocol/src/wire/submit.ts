import * as z from "zod";
import { swapStatuses } from "../swap-status.ts";
import { optional, sealedTokenSchema, swapIdSchema } from "./fields.ts";
import { signedMandateSchema } from "./mandate.ts";

/** POST /swap/submit. The signature's form is checked after the token is opened. */
export const submitRequestSchema = z.object({
	geoOpToken: sealedTokenSchema.describe("`geoOpToken` of build-geo-op, unchanged."),
	signature: z
		.string()
		.describe(
			"The wallet's signature of `geoOp.typedData` (EIP-712), or over the 32 bytes of `geoOpHash` by `personal_sign` (EIP-191), in hex: 65 bytes with v 27, 28, 0 or 1, or 64 bytes as in EIP-2098. `0x` is optional.",
		),
	signatureKind: optional(z.enum(["personal", "typed"])).describe(
		"Which of the two was signed. Without it, the service tries both.",
	),
	mandate: optional(signedMandateSchema).describe(
		"The mandate of the quote, if it had one. The signature is then the agent's.",
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
