import * as z from "zod";
import { contractAddressSchema } from "../contract-address.ts";
import { pythIdSchema } from "../pyth-id.ts";
import { solanaChainId } from "../solana-chain-id.ts";
import { programDeploymentSchema } from "./program/program-deployment.ts";
import { solanaNativeToken } from "./solana-address.ts";
import { solanaAddressSchema } from "./solana-address-schema.ts";

const solanaAssetSchema = z.strictObject({
	symbol: z.string().min(1).max(32),
	/** The mint of Solana's Token program, or the native token's id. */
	address: solanaAddressSchema,
	decimals: z.int().min(0).max(18),
	kind: z.enum(["stable", "volatile"]),
	/** Its price in USD, on one of the EVM chains, with Chainlink's AggregatorV3 interface. */
	feed: z.strictObject({
		chainId: z.int().positive(),
		address: contractAddressSchema,
		heartbeatSeconds: z.int().positive(),
		/** How far the price must move for an update before the heartbeat. Until then, the feed may be off by this much. */
		deviationBps: z.int().positive().max(10_000),
	}),
	/** The id of its price in USD at Pyth, which is a second reference beside the feed. */
	pythId: pythIdSchema.exactOptional(),
});

const entrySchema = z.strictObject({
	chainId: z.literal(solanaChainId),
	name: z.string().min(1),
	/** The hash of the first block, which identifies the cluster. Nodes report it. */
	genesisHash: z.string().min(32).max(44),
	/** Keys that pay for transactions and for what they create. They hold SOL for some hours, never a user's token. */
	feePayers: z.array(solanaAddressSchema).min(1).max(16),
	settlementToken: solanaAddressSchema,
	assets: z.array(solanaAssetSchema).min(1),
});

/** The entry of a deployment file for Solana as the command that deploys the program takes it. */
export const plannedSolanaSchema = entrySchema.extend({ program: programDeploymentSchema.exactOptional() });

/** The service's deployment on Solana. Its program holds the inputs of orders and the inventory. */
export const solanaDeploymentSchema = entrySchema
	.extend({ program: programDeploymentSchema })
	.superRefine(({ assets, settlementToken, feePayers, program }, context) => {
		const settlement = assets.find((asset) => asset.address === settlementToken);
		if (settlement?.kind !== "stable")
			context.addIssue("the settlement token must be among the assets, with the kind stable");
		const native = assets.find((asset) => asset.address === solanaNativeToken);
		if (native?.decimals !== 9)
			context.addIssue("the native token must be among the assets, with 9 decimals");
		for (const key of ["symbol", "address"] as const) {
			if (new Set(assets.map((asset) => asset[key])).size < assets.length)
				context.addIssue(`two assets have the same ${key}`);
		}
		// The thief of a fee payer's key must not be able to pay from the vault.
		const addresses = [...feePayers, program.operator, program.address, program.vault];
		if (new Set(addresses).size < addresses.length)
			context.addIssue("fee payers, operator, program and vault must all have different addresses");
	});
export type PlannedSolana = z.infer<typeof plannedSolanaSchema>;
export type SolanaDeployment = z.infer<typeof solanaDeploymentSchema>;
export type SolanaAssetDeployment = z.infer<typeof solanaAssetSchema>;
