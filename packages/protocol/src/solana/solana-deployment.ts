import * as z from "zod";
import { contractAddressSchema } from "../contract-address.ts";
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
		/** How far the price moves before the feed says so ahead of its heartbeat: until then it may be that wrong. */
		deviationBps: z.int().positive().max(10_000),
	}),
});

/** What the service has on Solana: no program of its own, but keys. Who holds which decides who can move what. */
export const solanaDeploymentSchema = z
	.strictObject({
		chainId: z.literal(solanaChainId),
		name: z.string().min(1),
		/** Which cluster: the first block's hash, which a node tells. */
		genesisHash: z.string().min(32).max(44),
		/** Pay for transactions, and for what they create; hold SOL for hours, never a user's token. */
		feePayers: z.array(solanaAddressSchema).min(1).max(16),
		/** Owns the accounts that inputs are sent to. */
		escrow: solanaAddressSchema,
		/** Owns the stock, and the markers. */
		vault: solanaAddressSchema,
		settlementToken: solanaAddressSchema,
		assets: z.array(solanaAssetSchema).min(1),
	})
	.superRefine(({ assets, settlementToken, feePayers, escrow, vault }, context) => {
		const settlement = assets.find((asset) => asset.address === settlementToken);
		if (settlement?.kind !== "stable")
			context.addIssue("the settlement token is not a stable among the assets");
		const native = assets.find((asset) => asset.address === solanaNativeToken);
		if (native?.decimals !== 9)
			context.addIssue("the native token must be among the assets, with 9 decimals");
		for (const key of ["symbol", "address"] as const) {
			if (new Set(assets.map((asset) => asset[key])).size < assets.length)
				context.addIssue(`a ${key} is used twice`);
		}
		// A stolen fee payer must take neither stock nor inputs, and a stolen vault no inputs.
		const keys = [...feePayers, escrow, vault];
		if (new Set(keys).size < keys.length)
			context.addIssue("fee payers, escrow and vault must all be different keys");
	});
export type SolanaDeployment = z.infer<typeof solanaDeploymentSchema>;
export type SolanaAssetDeployment = z.infer<typeof solanaAssetSchema>;
