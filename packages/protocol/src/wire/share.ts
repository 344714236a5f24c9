import * as z from "zod";
import { swapIdSchema } from "./fields.ts";

/** POST /swaps/{swapId}/share. */
export const shareResponseSchema = z.object({
	swapId: swapIdSchema.describe("The swap's id."),
	url: z
		.string()
		.describe(
			"The address of the page. Anyone who has it can see the swap, without a key. It is shown only in this answer.",
		),
	token: z.string().describe("The secret part of the address: the page is `/s/{token}` on this service."),
});
export type ShareResponse = z.infer<typeof shareResponseSchema>;

/** DELETE /swaps/{swapId}/share. */
export const revokedSharesSchema = z.object({
	swapId: swapIdSchema.describe("The swap's id."),
	revoked: z.int().describe("How many links the swap had. None of them shows anything any more."),
});
export type RevokedShares = z.infer<typeof revokedSharesSchema>;
