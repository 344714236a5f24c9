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

/** POST /swap/quote. Strict: a misspelt field here costs money. Addresses are checked against their chain later. */
export const quoteRequestSchema = z.strictObject({
	originChain: chainIdSchema.describe("The chain that the input is on."),
	destinationChain: chainIdSchema.describe("The chain to deliver on. May be the same one."),
	inputToken: z.string().min(1).describe("The token to give, by its address on the origin chain."),
	outputToken: z.string().min(1).describe("The token to get, by its address on the destination chain."),
	amount: amountSchema.describe("How much of the input token to give, in its smallest unit."),
	walletAddress: z.string().min(1).describe("The wallet that gives the input and signs."),
	recipient: optional(z.string().min(1)).describe(
		"Who gets the output. The wallet, unless given; required where the destination writes addresses in another form than the origin.",
	),
	slippageBps: optional(z.int().min(1).max(5000)).describe(
		"How far below `output` the delivery may be, in basis points. 50 where both tokens are stable, else 300.",
	),
});
export type QuoteRequest = z.output<typeof quoteRequestSchema>;
export type QuoteRequestBody = {
	originChain: number | string;
	destinationChain: number | string;
	inputToken: string;
	outputToken: string;
	amount: string | number;
	walletAddress: string;
	recipient?: string;
	slippageBps?: number;
};

export const quoteResponseSchema = z.object({
	geoQuoteToken: sealedTokenSchema.describe("The sealed quote: pass it on to the build call as it is."),
	expiresAt: timeSchema.describe("Until when the quote can be built: 30 seconds after it was issued."),
	origin: z
		.enum(["evm", "solana"])
		.describe("Which build call comes next: `build-geo-op` for `evm`, `build-solana-tx` for `solana`."),
	output: amountTextSchema.describe("What is expected to be delivered, in the output token's smallest unit."),
	minOutput: amountTextSchema.describe("The least that is delivered: below it the swap is refunded."),
	recipientAccountCost: amountTextSchema
		.optional()
		.describe(
			"On Solana, how much of the output token is charged for a token account of the recipient's, in its smallest unit. Absent where the recipient is known to have one. It is already taken off `output`, and delivered too where no account has to be made.",
		),
	feeBps: z.number().describe("The fee in basis points, after any discount."),
	feeDiscount: z
		.object({
			tier: z.string().describe("The tier that the wallet has earned."),
			discountPercent: z.number().describe("How much of the base fee is taken off."),
			baseFeeBps: z.number().describe("The fee without the discount."),
		})
		.optional()
		.describe("Where the wallet holds enough of the service's token."),
	inputUsd: usdSchema.optional().describe("What the input is worth in USD, as an indication."),
	outputUsd: usdSchema.optional().describe("What the output is worth in USD, as an indication."),
	priceImpactBps: z
		.number()
		.optional()
		.describe("From inputUsd to outputUsd, all costs included. Negative where the output is worth less."),
	warnings: z
		.array(
			z.object({
				code: z.string().describe("Which warning it is, for a machine. There may be more codes later."),
				message: z.string().describe("What it means, for a person."),
			}),
		)
		.optional()
		.describe("What to look at before going on, such as `HIGH_PRICE_IMPACT`. Never fatal."),
	swapId: swapIdSchema.describe("The id the swap will have once it is submitted."),
	recipient: z.string().describe("Who gets the output."),
	slippageBps: z.int().describe("How far below `output` the delivery may be."),
	etaSeconds: z.number().describe("How long it takes from submit to settled, usually."),
	summary: z.string().describe("The swap in one line, in whole tokens, for a person."),
});
export type QuoteResponse = z.infer<typeof quoteResponseSchema>;
