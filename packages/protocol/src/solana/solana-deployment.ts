import * as z from "zod";
import { contractAddressSchema } from "../contract-address.ts";
import { pythIdSchema } from "../pyth-id.ts";
import { solanaChainId } from "../solana-chain-id.ts";
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
		/** How far the price must move for an update before the heartbeat: until then the feed may be that wrong. */
		deviationBps: z.int().positive().max(10_000),
	}),
	/** The id of its price in USD at Pyth: a second reference beside the feed. */
	pythId: pythIdSchema.exactOptional(),
});

/** The service's deployment on Solana: no program of its own, only keys. A key's holder can move what the key owns. */
export const solanaDeploymentSchema = z
	.strictObject({
		chainId: z.literal(solanaChainId),
		name: z.string().min(1),
		/** The hash of the first block, which identifies the cluster. Nodes report it. */
		genesisHash: z.string().min(32).max(44),
		/** Keys that pay for transactions and for what they create. They hold SOL for some hours, never a user's token. */
		feePayers: z.array(solanaAddressSchema).min(1).max(16),
		/** The key that owns the accounts to which inputs are sent. */
		escrow: solanaAddressSchema,
		/** The key that owns the stock and the markers. */
		vault: solanaAddressSchema,
		settlementToken: solanaAddressSchema,
		assets: z.array(solanaAssetSchema).min(1),
	})
	.superRefine(({ assets, settlementToken, feePayers, escrow, vault }, context) => {
		const settlement = assets.find((asset) => asset.address === settlementToken);
		if (settlement?.kind !== "stable")
			context.addIssue("the settlement token must be among the assets, with the kind stable");
		const native = assets.find((asset) => asset.address === solanaNativeToken);
		if (native?.decimals !== 9)
			context.addIssue("the native token must be among the assets, with 9 decimals");
		for (const key of ["symbol", "address"] as const) {
			if (new Set(assets.map((asset) => asset[key])).size < assets.length)
				context.addIssue(`a ${key} is used twice`);
		}
		// The thief of a fee payer's key must get neither stock nor inputs, and the thief of the vault's key no inputs.
		const keys = [...feePayers, escrow, vault];
		if (new Set(keys).size < keys.length)
			context.addIssue("fee payers, escrow and vault must all be different keys");
	});
export type SolanaDeployment = z.infer<typeof solanaDeploymentSchema>;
export type SolanaAssetDeployment = z.infer<typeof solanaAssetSchema>;
