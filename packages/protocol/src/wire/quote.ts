import * as z from "zod";
import { amountSchema, chainIdSchema, optional, sealedTokenSchema, timeSchema } from "./fields.ts";

/** POST /swap/quote. Strict: a misspelt field here costs money. Addresses are checked against their chain later. */
export const quoteRequestSchema = z.strictObject({
	originChain: chainIdSchema,
	destinationChain: chainIdSchema,
	inputToken: z.string().min(1),
	outputToken: z.string().min(1),
	amount: amountSchema,
	walletAddress: z.string().min(1),
	recipient: optional(z.string().min(1)),
	slippageBps: optional(z.int().min(1).max(5000)),
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
	geoQuoteToken: sealedTokenSchema,
	expiresAt: timeSchema,
	/** Which build call comes next. */
	origin: z.enum(["evm", "solana"]),
	/** What we expect to deliver, in smallest units. */
	output: z.string(),
	/** Below it the swap is refunded. */
	minOutput: z.string(),
	feeBps: z.number(),
	feeDiscount: z.object({ tier: z.string(), discountPercent: z.number(), baseFeeBps: z.number() }).optional(),
	inputUsd: z.string().optional(),
	outputUsd: z.string().optional(),
	priceImpactBps: z.number().optional(),
	warnings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
	/** The id the swap will have once it is submitted. */
	swapId: z.string(),
	recipient: z.string(),
	slippageBps: z.int(),
	etaSeconds: z.number(),
	summary: z.string(),
});
export type QuoteResponse = z.infer<typeof quoteResponseSchema>;
