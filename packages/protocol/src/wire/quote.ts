import * as z from "zod";
import {
	amountSchema,
	amountTextSchema,
	chainIdSchema,
	optional,
	sealedTokenSchema,
	swapIdSchema,
	timeSchema,
	usdSchema,
} from "./fields.ts";
import { type MandateJson, signedMandateSchema } from "./mandate.ts";

/** A slippage of 0 is refused with this message. */
export const noZeroSlippage =
	"must be at least 1, except with outputAmount between two tokens with the same symbol";

/** Whether fields can be compared, even if some are invalid, so that every problem is reported at once. */
function isObject({ value }: { value: unknown }): boolean {
	return typeof value === "object" && value !== null;
}

/**
 * POST /swap/quote. Strict, since a misspelt field here costs money. Addresses are checked for their chain later, and so
 * is a slippage of 0.
 */
export const quoteRequestSchema = z
	.strictObject({
		originChain: chainIdSchema.describe("The chain that the input is on."),
		destinationChain: chainIdSchema.describe("The chain to deliver on. May be the same one."),
		inputToken: z.string().min(1).describe("The token to give, by its address on the origin chain."),
		outputToken: z.string().min(1).describe("The token to get, by its address on the destination chain."),
		amount: amountSchema
			.optional()
			.describe(
				"How much of the input token to give, in its smallest unit. Required without `outputAmount`.",
			),
		outputAmount: amountSchema
			.optional()
			.describe(
				"In place of `amount`: the least that the recipient is to get, in the output token's smallest unit. The quote's `amount` is then the least input whose `minOutput` is not below it.",
			),
		walletAddress: z.string().min(1).describe("The wallet that gives the input and signs."),
		recipient: optional(z.string().min(1)).describe(
			"Who gets the output. The default is the wallet. Required if the destination chain has another address format than the origin chain.",
		),
		slippageBps: optional(z.int().min(0).max(5000)).describe(
			"How far below `output` the delivery may be, in basis points, from 1; 0 only with `outputAmount` between two tokens with the same symbol. The default is 50 if both tokens are stable, otherwise 300.",
		),
		topUp: amountSchema
			.optional()
			.describe(
				"Native token of the destination chain that the recipient gets in addition to the output, for its gas, in its smallest unit. Its price is deducted from the output. A contract that refuses it goes without.",
			),
		topUpUsd: z
			.string()
			.regex(/^\d{1,6}(\.\d{1,6})?$/, "must be an amount in USD, like 0.50")
			.refine((usd) => Number(usd) > 0, "must be more than zero")
			.optional()
			.describe("In place of `topUp`: its value in USD."),
		mandate: optional(signedMandateSchema).describe(
			"The owner's mandate, if an agent's key and not the wallet's own will sign. Its gas is part of the price.",
		),
	})
	.refine(({ amount, outputAmount }) => amount !== undefined || outputAmount !== undefined, {
		path: ["amount"],
		error: "required",
		// A missing amount is reported together with the other fields.
		when: isObject,
	})
	.refine(({ amount, outputAmount }) => amount === undefined || outputAmount === undefined, {
		path: ["outputAmount"],
		error: "must not be combined with amount",
	})
	.refine(({ topUp, topUpUsd }) => topUp === undefined || topUpUsd === undefined, {
		path: ["topUpUsd"],
		error: "must not be combined with topUp",
	})
	.refine(({ slippageBps, outputAmount }) => slippageBps !== 0 || (outputAmount ?? undefined) !== undefined, {
		path: ["slippageBps"],
		error: noZeroSlippage,
		when: isObject,
	});
/** The part of a request that is priced. A mandate only adds gas to it. Exactly one of the two amounts is given. */
export type QuoteRequest = Omit<
	z.output<typeof quoteRequestSchema>,
	"mandate" | "amount" | "outputAmount"
> & { amount?: bigint | undefined; outputAmount?: bigint | undefined };
export type QuoteRequestBody = {
	originChain: number | string;
	destinationChain: number | string;
	inputToken: string;
	outputToken: string;
	/** Exactly one of the two is given. */
	amount?: bigint | string | number;
	outputAmount?: bigint | string | number;
	walletAddress: string;
	recipient?: string;
	slippageBps?: number;
	/** At most one of the two is given. */
	topUp?: bigint | string | number;
	topUpUsd?: string;
	mandate?: MandateJson;
};

export const quoteResponseSchema = z.object({
	geoQuoteToken: sealedTokenSchema.describe("The sealed quote. Pass it to the build call unchanged."),
	expiresAt: timeSchema.describe(
		"When the quote expires, 30 seconds after it was issued. Build before then.",
	),
	origin: z
		.enum(["evm", "solana"])
		.describe("Which build call comes next: `build-geo-op` for `evm`, `build-solana-tx` for `solana`."),
	amount: amountTextSchema.describe("The exact input, in the input token's smallest unit."),
	output: amountTextSchema.describe("The expected delivery, in the output token's smallest unit."),
	minOutput: amountTextSchema.describe(
		"The minimum delivery. If less could be delivered, the swap is refunded.",
	),
	topUp: amountTextSchema
		.optional()
		.describe(
			"The native token that the recipient gets in addition to `output`, in its smallest unit. Present if the request has a top-up.",
		),
	topUpUsd: usdSchema.optional().describe("Indicative value of `topUp` in USD."),
	recipientAccountCost: amountTextSchema
		.optional()
		.describe(
			"On Solana, the cost of a token account for the recipient, in the output token's smallest unit. Absent if the recipient is known to have one. It is already deducted from `output`. If no account has to be created, it is delivered as well.",
		),
	feeBps: z.number().describe("The fee in basis points, after any discount."),
	feeDiscount: z
		.object({
			tier: z.string().describe("The tier that the wallet has earned."),
			discountPercent: z.number().describe("The percentage that is taken off the base fee."),
			baseFeeBps: z.number().describe("The fee without the discount, in basis points."),
		})
		.optional()
		.describe("The fee discount. Present if the wallet holds enough of the service's token."),
	inputUsd: usdSchema.optional().describe("Indicative value of the input in USD."),
	outputUsd: usdSchema.optional().describe("Indicative value of the output in USD."),
	priceImpactBps: z
		.number()
		.optional()
		.describe(
			"Change in value from `inputUsd` to `outputUsd` and `topUpUsd`, in basis points, all costs included. Negative if the recipient gets less value.",
		),
	warnings: z
		.array(
			z.object({
				code: z.string().describe("The warning's code, for programs. More codes may be added."),
				message: z.string().describe("What the warning means, for people."),
			}),
		)
		.optional()
		.describe("Warnings to consider before the build, such as `HIGH_PRICE_IMPACT`. They are never fatal."),
	swapId: swapIdSchema.describe("The id that the swap will have once it is submitted."),
	recipient: z.string().describe("Who gets the output."),
	slippageBps: z.int().describe("How far below `output` the delivery may be, in basis points."),
	etaSeconds: z.number().describe("Usual number of seconds from submit to settled."),
	summary: z.string().describe("The swap in one line, in whole tokens, for display."),
});
export type QuoteResponse = z.infer<typeof quoteResponseSchema>;
