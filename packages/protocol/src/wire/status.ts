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
		.describe("How many seconds to hold the call at most, 0 to 15. 15 unless given."),
});

export const statusResponseSchema = z.object({
	swapId: swapIdSchema.describe("As asked."),
	status: z
		.enum(swapStatuses)
		.describe("`settled`, `failed` and `refunded` are terminal: such a status never changes."),
	originTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that took the input, as explorers know it: hex, or base58 on Solana."),
	deliveryTxHash: transactionHashSchema
		.optional()
		.describe("The transaction that delivered the output, on the destination chain."),
	stage: openEnum(swapStages).describe(
		"How far a pending swap is; the last one it reached stays with a terminal one.",
	),
	orderId: hexSchema.describe("The order's id on the chains."),
	refundTxHash: transactionHashSchema.optional().describe("The transaction that gave the input back."),
	failure: z
		.object({
			code: openEnum(failureCodes).describe("Why, for a machine."),
			message: z.string().describe("Why, for a person."),
		})
		.optional()
		.describe("Why, where the status is `failed` or `refunded`."),
	held: z
		.literal(false)
		.optional()
		.describe(
			"There where the call was to be held and was not, since the key holds as many calls as it may. The `Retry-After` header says how many seconds to wait before the next one.",
		),
	decidedBy: timeSchema.optional().describe("While pending: the latest time it can stay so."),
	updatedAt: timeSchema.describe("When it last changed."),
	funds: z
		.object({
			chainId: z.int().describe("The chain that it is on."),
			holder: z
				.enum(["wallet", "escrow", "recipient"])
				.describe("Who has it: the wallet that gave it, the escrow, or the recipient."),
			token: z.string().describe("The token, by its address on that chain."),
			amount: amountTextSchema.describe("How much, in the token's smallest unit."),
		})
		.describe("Where the money is now."),
});
export type StatusResponse = z.infer<typeof statusResponseSchema>;
