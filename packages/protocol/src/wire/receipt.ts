import * as z from "zod";
import { hexSchema, swapIdSchema, timeSchema, transactionHashSchema } from "./fields.ts";
import { swapTermsSchema } from "./status.ts";

/** GET /swaps/{swapId}/receipt. */
export const receiptResponseSchema = z.object({
	swapId: swapIdSchema.describe("The swap's id."),
	status: z.enum(["settled", "failed", "refunded"]).describe("How the swap ended."),
	orderId: hexSchema.describe("The hash of `order`, which the contracts' events name."),
	order: z
		.record(z.string(), z.string())
		.describe("The order's fourteen fields: numbers as decimal strings, words as hex."),
	terms: swapTermsSchema,
	deliveredAmount: z
		.string()
		.regex(/^[1-9]\d{0,77}$/)
		.optional()
		.describe(
			"What the recipient got, in the output token's smallest unit. Present if the swap is `settled`.",
		),
	originTxHash: transactionHashSchema.optional().describe("The transaction that took the input."),
	deliveryTxHash: transactionHashSchema.optional().describe("The transaction that delivered the output."),
	refundTxHash: transactionHashSchema.optional().describe("The transaction that gave the input back."),
	quotedAt: timeSchema.describe("When the quote was issued."),
	createdAt: timeSchema.describe("When the swap was submitted."),
	endedAt: timeSchema.optional().describe("When the swap ended. Absent if it was not recorded."),
	signer: z
		.string()
		.describe(
			"The address of the key that signed this. It is among `receiptSigners` of the deployment file.",
		),
	signature: z
		.string()
		.regex(/^0x[0-9a-f]{128}(1b|1c)$/)
		.describe("The signature over the EIP-712 message of all fields, 65 bytes."),
});
export type SwapReceipt = z.infer<typeof receiptResponseSchema>;
