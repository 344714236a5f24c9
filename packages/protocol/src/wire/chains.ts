import * as z from "zod";
import { hexSchema, pausedSchema } from "./fields.ts";

const chainFields = z.object({
	chainId: z.int().describe("What a quote takes as `originChain` and `destinationChain`."),
	name: z.string().describe("For a person."),
	nativeToken: z
		.string()
		.describe("The native token's id in quotes. It is offered where GET /tokens lists it."),
	settlementToken: z.string().describe("What every price goes by way of."),
	openSeconds: z
		.int()
		.describe("From a quote to the last moment its order can be opened, where it begins here."),
	finalitySeconds: z.int().describe("How long a block takes to be final, generously."),
	live: z
		.boolean()
		.describe("Whether at least one token from and to here is quoted now; GET /tokens says which."),
	paused: pausedSchema.exactOptional(),
});

const chainSchema = z.discriminatedUnion("kind", [
	chainFields.extend({
		kind: z.literal("evm").describe("How it works, and which build call begins a swap from here."),
		contracts: z
			.object({
				delegate: z.string().describe("What wallets delegate to."),
				entryPoint: z.string().describe("What runs ops, of ERC-4337."),
				escrow: z.string().describe("What holds inputs until their orders are decided."),
				vault: z.string().describe("What outputs are paid from."),
				attesterSet: hexSchema.describe("Who decides orders that begin here, as orders carry it."),
			})
			.describe("To be compared with the published deployment file: whoever pins pins that."),
	}),
	chainFields.extend({
		kind: z.literal("solana").describe("How it works, and which build call begins a swap from here."),
		contracts: z
			.object({
				escrow: z.string().describe("Who holds inputs until their orders are decided."),
				vault: z.string().describe("Who pays outputs."),
			})
			.describe("Keys, not programs. To be compared with the published deployment file."),
	}),
]);
export type ChainEntry = z.infer<typeof chainSchema>;

/** GET /chains. */
export const chainsResponseSchema = z.object({
	chains: z.array(chainSchema).describe("Every chain that is offered."),
});
export type ChainsResponse = z.infer<typeof chainsResponseSchema>;
