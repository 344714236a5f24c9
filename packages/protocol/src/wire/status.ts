import * as z from "zod";
import { failureCodes, swapStages, swapStatuses } from "../swap-status.ts";
import { amountTextSchema, hexSchema, swapIdSchema, timeSchema, transactionHashSchema } from "./fields.ts";

/** GET /swap/status/{swapId}?wait=. */
export const statusQuerySchema = z.object({
	wait: z
		.string()
		.regex(/^(\d|1[0-5])$/, "must be whole seconds, 0 to 15")
		.transform(Number)
		.optional()
		.describe("How many seconds to hold the call at most, 0 to 15. 15 unless given."),
});

export const statusResponseSchema = z.object({
	swapId: swapIdSchema,
	status: z
		.enum(swapStatuses)
		.describe("`settled`, `failed` and `refunded` are terminal: such a status never changes."),
	originTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that took the input, as explorers know it: hex, or base58 on Solana."),
	deliveryTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that delivered the output, on the destination chain."),
	stage: z
		.enum(swapStages)
		.describe("How far a pending swap is; the last one it reached stays with a terminal one."),
	orderId: hexSchema.describe("The order's id on the chains."),
	refundTxHash: transactionHashSchema.optional().describe("The transaction that gave the input back."),
	failure: z
		.object({ code: z.enum(failureCodes), message: z.string() })
		.optional()
		.describe("Why, where the status is `failed` or `refunded`."),
	decidedBy: timeSchema.optional().describe("While pending: the latest time it can stay so."),
	updatedAt: timeSchema.describe("When it last changed."),
	funds: z
		.object({
			chainId: z.int(),
			holder: z.enum(["wallet", "escrow", "recipient"]),
			token: z.string(),
			amount: amountTextSchema,
		})
		.describe("Where the money is now."),
});
export type StatusResponse = z.infer<typeof statusResponseSchema>;
