import * as z from "zod";
import { failureCodes, swapStages, swapStatuses } from "../swap-status.ts";
import { hexSchema, timeSchema, transactionHashSchema } from "./fields.ts";

/** GET /swap/status/{swapId}?wait=. */
export const statusQuerySchema = z.object({
	wait: z
		.string()
		.regex(/^(\d|1[0-5])$/, "must be whole seconds, 0 to 15")
		.transform(Number)
		.optional(),
});

export const statusResponseSchema = z.object({
	swapId: z.string(),
	status: z.enum(swapStatuses),
	/** As the chain's explorers know it: hex, or base58 on Solana. */
	originTxHash: transactionHashSchema.optional(),
	deliveryTxHash: transactionHashSchema.optional(),
	stage: z.enum(swapStages),
	orderId: hexSchema,
	refundTxHash: transactionHashSchema.optional(),
	failure: z.object({ code: z.enum(failureCodes), message: z.string() }).optional(),
	/** While pending: the latest time it can stay so. */
	decidedBy: timeSchema.optional(),
	updatedAt: timeSchema,
	/** Where the money is now. */
	funds: z.object({
		chainId: z.int(),
		holder: z.enum(["wallet", "escrow", "recipient"]),
		token: z.string(),
		amount: z.string(),
	}),
});
export type StatusResponse = z.infer<typeof statusResponseSchema>;
