import * as z from "zod";
import { failureCodes, swapStages, swapStatuses } from "../swap-status.ts";
import {
	amountTextSchema,
	hexSchema,
	openEnum,
	swapIdSchema,
	timeSchema,
	transactionHashSchema,
} from "./fields.ts";

/** GET /swap/status/{swapId}?wait=. */
export const statusQuerySchema = z.strictObject({
	wait: z
		.string()
		.regex(/^(\d|1[0-5])$/, "must be whole seconds, 0 to 15")
		.meta({ type: "integer", minimum: 0, maximum: 15 })
		.transform(Number)
		.optional()
		.describe("Maximum number of seconds to hold the call, 0 to 15. The default is 15."),
});

export const statusResponseSchema = z.object({
	swapId: swapIdSchema.describe("The swap's id."),
	status: z
		.enum(swapStatuses)
		.describe("The swap's status. `settled`, `failed` and `refunded` are terminal: they never change."),
	originTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that took the input, as block explorers show it: hex, or base58 on Solana."),
	deliveryTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that delivered the output, on the destination chain."),
	stage: openEnum(swapStages).describe(
		"The stage that the swap is in or, after its end, the last one it reached.",
	),
	orderId: hexSchema.describe("The order's id on the chains."),
	refundTxHash: transactionHashSchema.optional().describe("The transaction that gave the input back."),
	failure: z
		.object({
			code: openEnum(failureCodes).describe("The reason, for programs."),
			message: z.string().describe("The reason, for people."),
		})
		.optional()
		.describe("Why the swap is `failed` or `refunded`."),
	held: z
		.literal(false)
		.optional()
		.describe(
			"Present if the call was not held because the key already holds as many calls as it may. The `Retry-After` header says how many seconds to wait before the next call.",
		),
	decidedBy: timeSchema
		.optional()
		.describe("While pending: the latest time until which the swap can stay pending."),
	updatedAt: timeSchema.describe("When the swap last changed."),
	funds: z
		.object({
			chainId: z.int().describe("The chain that the money is on."),
			holder: z
				.enum(["wallet", "escrow", "recipient"])
				.describe("Who holds the money: the wallet that gave the input, the escrow, or the recipient."),
			token: z.string().describe("The token, by its address on that chain."),
			amount: amountTextSchema.describe("The amount, in the token's smallest unit."),
		})
		.describe("Where the money is now."),
});
export type StatusResponse = z.infer<typeof statusResponseSchema>;
