import * as z from "zod";
import { hexSchema, pausedSchema } from "./fields.ts";

const chainFields = z.object({
	chainId: z.int().describe("The chain's id. Send it as `originChain` or `destinationChain` of a quote."),
	name: z.string().describe("The chain's name, for display."),
	nativeToken: z
		.string()
		.describe("The native token's id in quotes. The token is offered if GET /tokens lists it."),
	settlementToken: z.string().describe("The token that every price on this chain is computed through."),
	openSeconds: z
		.int()
		.describe("Seconds from a quote to its order's open deadline, for swaps from this chain."),
	finalitySeconds: z.int().describe("Upper estimate of the seconds until a block is final."),
	explorerUrl: z.string().exactOptional().describe("The chain's block explorer, if it has one."),
	live: z
		.boolean()
		.describe(
			"Whether swaps from and to at least one token of this chain are quoted now. GET /tokens has the tokens.",
		),
	paused: pausedSchema.exactOptional(),
});

const chainSchema = z.discriminatedUnion("kind", [
	chainFields.extend({
		kind: z
			.literal("evm")
			.describe("The kind of chain. It decides which build call starts a swap from here."),
		contracts: z
			.object({
				delegate: z.string().describe("The contract that wallets delegate to."),
				typedDelegate: z
					.string()
					.describe("The contract for wallets that sign typed data only: it refuses `personal_sign`."),
				escrow: z
					.string()
					.describe("The contract that holds inputs until their orders are released or refunded."),
				vault: z.string().describe("The contract that pays outputs."),
				attesterSet: hexSchema.describe(
					"Hash of the attester set that decides orders from this chain. Each order carries it.",
				),
			})
			.describe(
				"The deployed contracts. Compare them with the published deployment file; pin that file, not this answer.",
			),
	}),
	chainFields.extend({
		kind: z
			.literal("solana")
			.describe("The kind of chain. It decides which build call starts a swap from here."),
		contracts: z
			.object({
				escrow: z
					.string()
					.describe("The program that holds inputs until their orders are released or refunded."),
				vault: z.string().describe("The account of the program that outputs are paid from."),
			})
			.describe(
				"The deployed program and its vault. Compare them with the published deployment file; pin that file, not this answer.",
			),
	}),
]);
export type ChainEntry = z.infer<typeof chainSchema>;

/** GET /chains. */
export const chainsResponseSchema = z.object({
	chains: z.array(chainSchema).describe("Every chain that the service offers."),
});
export type ChainsResponse = z.infer<typeof chainsResponseSchema>;
