import * as z from "zod";
import { hexSchema, pausedSchema } from "./fields.ts";

const chainFields = z.object({
	chainId: z.int(),
	name: z.string(),
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
		kind: z.literal("evm"),
		contracts: z
			.object({
				delegate: z.string().describe("What wallets delegate to."),
				entryPoint: z.string(),
				escrow: z.string(),
				vault: z.string(),
				attesterSet: hexSchema.describe("Who decides orders that begin here, as orders carry it."),
			})
			.describe("To be compared with the published deployment file: whoever pins pins that."),
	}),
	chainFields.extend({
		kind: z.literal("solana"),
		contracts: z
			.object({ escrow: z.string(), vault: z.string() })
			.describe("Keys, not programs. To be compared with the published deployment file."),
	}),
]);
export type ChainEntry = z.infer<typeof chainSchema>;

/** GET /chains. */
export const chainsResponseSchema = z.object({ chains: z.array(chainSchema) });
export type ChainsResponse = z.infer<typeof chainsResponseSchema>;
