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

export const swapTermsSchema = z
	.object({
		originChain: z.int().describe("The chain that the input is taken on."),
		destinationChain: z.int().describe("The chain that the output is delivered on."),
		inputToken: z.string().describe("The token that is swapped, by its address on the origin chain."),
		outputToken: z.string().describe("The token that is delivered, by its address on the destination chain."),
		amount: amountTextSchema.describe("The whole input, in the token's smallest unit."),
		walletAddress: z.string().describe("The wallet that gives the input."),
		recipient: z.string().describe("Who gets the output."),
		output: amountTextSchema.describe("The output that the quote promised, in the token's smallest unit."),
		minOutput: amountTextSchema.describe(
			"The least output. If less would be delivered, the swap is refunded.",
		),
		topUp: amountTextSchema
			.optional()
			.describe(
				"The native token that the recipient gets in addition to the output, for its gas, in its smallest unit. Absent if there is none.",
			),
		feeBps: z.number().describe("The fee, in basis points of the input's value. It is part of `output`."),
		networkCost: z
			.object({
				token: z.string().describe("The settlement token of the destination chain, by its address."),
				amount: amountTextSchema.describe("The amount, in the token's smallest unit."),
			})
			.optional()
			.describe(
				"The charge for the transactions of the swap, and for its top-up. It is part of `output`. Absent if it was not recorded.",
			),
	})
	.describe("What was agreed when the swap was submitted, in the words of the quote. It never changes.");

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
			"Present if the call was not held because the key already holds as many calls as it may. The `Retry-After` header has the seconds to wait before the next call.",
		),
	decidedBy: timeSchema
		.optional()
		.describe("While pending: the latest time until which the swap can stay pending."),
	updatedAt: timeSchema.describe("When the swap last changed."),
	terms: swapTermsSchema,
	deliveredAmount: amountTextSchema
		.optional()
		.describe("What the recipient got, in the output token's smallest unit. Present once it is known."),
	quotedAt: timeSchema.describe("When the quote was issued."),
	createdAt: timeSchema.describe("When the swap was submitted."),
	openedAt: timeSchema
		.optional()
		.describe(
			"When the service read the transaction that took the input. Like the other times, it is absent until it is known, and if it was not recorded.",
		),
	deliveredAt: timeSchema
		.optional()
		.describe("When the service read the transaction that delivered the output."),
	endedAt: timeSchema.optional().describe("When the swap became `settled`, `failed` or `refunded`."),
	links: z
		.object({
			origin: z.string().optional().describe("The page of `originTxHash`."),
			delivery: z.string().optional().describe("The page of `deliveryTxHash`."),
			refund: z.string().optional().describe("The page of `refundTxHash`."),
		})
		.describe(
			"Pages of block explorers. Each is present if its transaction and its chain's explorer are known.",
		),
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
