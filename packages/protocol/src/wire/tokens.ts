import * as z from "zod";
import { chainIdSchema, openEnum, pausedSchema, usdSchema } from "./fields.ts";

/** GET /tokens?chainId=. */
export const tokensQuerySchema = z.strictObject({
	chainId: chainIdSchema.optional().describe("Only this chain's. All chains' unless given."),
});

const tokenSchema = z.object({
	chainId: z.int().describe("The chain that it is on."),
	address: z.string().describe("As its chain writes it, and as a quote takes it."),
	symbol: z.string().describe("For a person. Quotes take the address."),
	decimals: z.int().describe("How many decimals a whole token has: amounts are in its smallest unit."),
	kind: openEnum(["stable", "volatile"]).describe("What the default of `slippageBps` goes by."),
	native: z.boolean().describe("Whether it is the chain's own."),
	live: z.boolean().describe("Whether it is quoted now."),
	paused: pausedSchema.exactOptional(),
	minimumUsd: usdSchema.describe("What an input is worth at least. Network costs may ask for more."),
	maximumUsd: usdSchema.describe("What an input is worth at most. A pair may have room for less."),
});
export type TokenEntry = z.infer<typeof tokenSchema>;

export const tokensResponseSchema = z.object({
	tokens: z.array(tokenSchema).describe("Every token that is offered."),
});
export type TokensResponse = z.infer<typeof tokensResponseSchema>;
