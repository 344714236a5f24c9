import * as z from "zod";
import { chainIdSchema, openEnum, pausedSchema, usdSchema } from "./fields.ts";

/** GET /tokens?chainId=. */
export const tokensQuerySchema = z.strictObject({
	chainId: chainIdSchema
		.optional()
		.describe("Returns only the tokens of this chain. By default, all chains' tokens are returned."),
});

const tokenSchema = z.object({
	chainId: z.int().describe("The chain that the token is on."),
	address: z
		.string()
		.describe("The token's address, in the chain's own format. Send it like this in a quote."),
	symbol: z.string().describe("The token's symbol, for display. Quotes take the address."),
	decimals: z.int().describe("The token's number of decimals. Amounts are in the token's smallest unit."),
	kind: openEnum(["stable", "volatile"]).describe(
		"The kind of token. It decides the default of `slippageBps`.",
	),
	native: z.boolean().describe("Whether it is the chain's native token."),
	live: z.boolean().describe("Whether the token is quoted now."),
	paused: pausedSchema.exactOptional(),
	minimumUsd: usdSchema.describe("Minimum value of an input. Network costs may require more."),
	maximumUsd: usdSchema.describe("Maximum value of an input. A pair may have capacity for less."),
});
export type TokenEntry = z.infer<typeof tokenSchema>;

export const tokensResponseSchema = z.object({
	tokens: z.array(tokenSchema).describe("Every token that the service offers."),
});
export type TokensResponse = z.infer<typeof tokensResponseSchema>;
