import { type Address, zeroAddress } from "viem";
import * as z from "zod";
import { hashedAttesterSetSchema } from "./attester-set-schema.ts";
import { contractAddressSchema, evmAddressSchema } from "./contract-address.ts";
import { pythIdSchema } from "./pyth-id.ts";
import { solanaDeploymentSchema } from "./solana/solana-deployment.ts";

/** The kind of fees that a transaction pays: the chain's own only, or also those of the chain below it. */
export const chainKindSchema = z.enum(["eip1559", "op-stack", "arbitrum"]);
export type ChainKind = z.infer<typeof chainKindSchema>;

export const assetDeploymentSchema = z.strictObject({
	symbol: z.string().min(1).max(32),
	/** The zero address is the native token. */
	address: evmAddressSchema,
	decimals: z.int().min(0).max(36),
	kind: z.enum(["stable", "volatile"]),
	/** Its price in USD, with Chainlink's AggregatorV3 interface. Absent only if Pyth alone gives its price. */
	feed: z
		.strictObject({
			address: contractAddressSchema,
			heartbeatSeconds: z.int().positive(),
			/**
			 * How far the market may move before the feed is updated (Chainlink's deviation threshold). Required for a
			 * settlement token if another chain settles in another token.
			 */
			deviationBps: z.int().positive().max(10_000).exactOptional(),
		})
		.exactOptional(),
	/** The id of its price in USD at Pyth, which is a second reference beside the feed, or the only one. */
	pythId: pythIdSchema.exactOptional(),
	/**
	 * The paths from the settlement token to this asset, as fee tiers of the pools: one pool, or two through the
	 * wrapped native token. The native token has the paths of the wrapped one, the settlement token has none.
	 */
	paths: z.array(z.array(z.int().min(1).max(999_999)).min(1).max(2)),
});
export type AssetDeployment = z.infer<typeof assetDeploymentSchema>;

export const feeDiscountTokenSchema = z.strictObject({
	symbol: z.string().min(1).max(32),
	address: contractAddressSchema,
	decimals: z.int().min(0).max(36),
});

/** Uniswap v3, or a venue with the same calls such as PancakeSwap v3. */
export const uniswapDeploymentSchema = z.strictObject({
	factory: contractAddressSchema,
	/** SwapRouter02, or PancakeSwap's SmartRouter. */
	router: contractAddressSchema,
	quoterV2: contractAddressSchema,
});

/** The largest number that Circle can give to a chain. */
const maxDomain = 0xffff_ffff;

/** Circle's second contracts for moving USDC (CCTP v2) on one chain. */
export const cctpContractsSchema = z.strictObject({
	/** The chain, as Circle numbers it. */
	domain: z.int().min(0).max(maxDomain),
	/** TokenMessengerV2. */
	tokenMessenger: contractAddressSchema,
	/** MessageTransmitterV2. */
	messageTransmitter: contractAddressSchema,
});

/** The id of an EVM chain as a key of a JSON object. */
export const chainIdKeySchema = z.string().regex(/^[1-9][0-9]{0,15}$/, "not a chain id");

export const chainDeploymentSchema = z
	.strictObject({
		chainId: z.int().positive(),
		name: z.string().min(1),
		kind: chainKindSchema,
		contracts: z.strictObject({
			/** The GeoAccount that wallets delegate to by default. */
			delegate: contractAddressSchema,
			/** The GeoAccount for wallets that sign typed data only. It refuses an order signed as 32 opaque bytes. */
			typedDelegate: contractAddressSchema,
			/** Retired delegates. Each pays into another escrow, so a wallet that is delegated to one must delegate again. */
			earlierDelegates: z.array(contractAddressSchema),
			escrow: contractAddressSchema,
			/** Retired escrows. Orders that were opened in one of them end there. */
			earlierEscrows: z.array(contractAddressSchema),
			vault: contractAddressSchema,
			/** Retired vaults. Older orders name them, and they may hold inventory. Each reports its own AccessManager. */
			earlierVaults: z.array(contractAddressSchema),
			accessManager: contractAddressSchema,
			permit2: contractAddressSchema.optional(),
		}),
		attesterSet: hashedAttesterSetSchema,
		uniswap: uniswapDeploymentSchema,
		wrappedNative: contractAddressSchema,
		settlementToken: contractAddressSchema,
		/** Chainlink's feed that reports whether the rollup's sequencer is up. Absent on other chains. */
		sequencerUptimeFeed: contractAddressSchema.exactOptional(),
		assets: z.array(assetDeploymentSchema).min(1),
		feeDiscountToken: feeDiscountTokenSchema.optional(),
		/** Absent if the service moves no USDC between this chain and others by Circle's CCTP. */
		cctp: cctpContractsSchema
			.extend({
				/** The vault's CctpRoute to each other chain, by its chain id. */
				routes: z.record(chainIdKeySchema, contractAddressSchema),
			})
			.exactOptional(),
		/** The first block of the oldest listed vault. No event of an order that names a listed vault is older. */
		deployedAtBlock: z.int().nonnegative(),
	})
	.superRefine((chain, context) => {
		for (const message of assetProblems(chain)) {
			context.addIssue({ code: "custom", path: ["assets"], message });
		}
		if (chain.cctp?.routes[chain.chainId]) {
			context.addIssue({
				code: "custom",
				path: ["cctp", "routes"],
				message: "a route leads to another chain",
			});
		}
	});
export type ChainDeployment = z.infer<typeof chainDeploymentSchema>;

/** The deployment on all chains. It configures a server, and an SDK pins it. It is published, and has no secret. */
export const deploymentSchema = z.strictObject({
	chains: z.array(chainDeploymentSchema).superRefine((chains, context) => {
		const ids = chains.map((chain) => chain.chainId);
		for (const id of repeated(ids))
			context.addIssue({ code: "custom", message: `chain ${id} is listed twice` });
	}),
	/** Absent if Solana is not offered. */
	solana: solanaDeploymentSchema.exactOptional(),
	/** Addresses whose signatures of receipts are valid: that of the current key, and those of earlier keys. */
	receiptSigners: z.array(evmAddressSchema).min(1).exactOptional(),
});
export type Deployment = z.infer<typeof deploymentSchema>;

/** Each list of retired addresses, and the contracts whose addresses it keeps. */
const earlierLists = [
	["earlierDelegates", ["delegate", "typedDelegate"]],
	["earlierEscrows", ["escrow"]],
	["earlierVaults", ["vault"]],
] as const;

/**
 * Returns the deployment with this chain's entry added or replaced. A contract that is no longer current stays listed,
 * because wallets chose the delegate, orders name the escrow and the vault, and the vault holds inventory.
 */
export function withChainDeployment(deployment: Deployment, chain: ChainDeployment): Deployment {
	const before = deployment.chains.find((other) => other.chainId === chain.chainId);
	const contracts = { ...chain.contracts };
	for (const [list, names] of earlierLists) {
		const current = names.map((name) => contracts[name]);
		const earlier = [...contracts[list], ...(before?.contracts[list] ?? [])];
		if (before) earlier.push(...names.map((name) => before.contracts[name]));
		contracts[list] = [...new Set(earlier)].filter((address) => !current.includes(address));
	}
	const deployedAtBlock =
		before && contracts.earlierVaults.length > 0
			? Math.min(before.deployedAtBlock, chain.deployedAtBlock)
			: chain.deployedAtBlock;
	const others = deployment.chains.filter((other) => other.chainId !== chain.chainId);
	return {
		...deployment,
		chains: [...others, { ...chain, contracts, deployedAtBlock }].sort((a, b) => a.chainId - b.chainId),
	};
}

/** Returns the file's text. Parsing puts the keys in the schema's order, so equal deployments are equal bytes. */
export function formatDeployment(deployment: Deployment): string {
	return `${JSON.stringify(deploymentSchema.parse(deployment), null, "\t")}\n`;
}

/** Returns a readable message for each problem in a chain's list of assets. */
export function assetProblems({
	assets,
	settlementToken,
	wrappedNative,
}: {
	assets: AssetDeployment[];
	settlementToken: Address;
	wrappedNative: Address;
}): string[] {
	const settlement = assets.find((asset) => asset.address === settlementToken);
	const problems = [
		...repeated(assets.map((asset) => asset.symbol)).map((symbol) => `the symbol ${symbol} is used twice`),
		...repeated(assets.map((asset) => asset.address)).map((address) => `${address} is listed twice`),
	];
	// Uniswap's router would pay with any ether it holds, and the vault's books would not add up.
	if (settlementToken === wrappedNative)
		problems.push("the settlement token must not be the wrapped native token");
	if (!settlement) problems.push(`the settlement token ${settlementToken} is not among the assets`);
	else if (settlement.kind !== "stable")
		problems.push(`the settlement token ${settlement.symbol} is not a stable`);
	for (const asset of assets) {
		const isSettlement = asset === settlement;
		if (isSettlement && asset.paths.length > 0)
			problems.push(`${asset.symbol} is the settlement token and must have no paths`);
		if (!isSettlement && asset.paths.length === 0) problems.push(`${asset.symbol} has no path`);
		if (!asset.feed && asset.pythId === undefined)
			problems.push(`${asset.symbol} has neither a feed nor a pythId; one of them must give its price`);
		const isNative = asset.address === zeroAddress || asset.address === wrappedNative;
		if (isNative && asset.paths.some((fees) => fees.length > 1)) {
			problems.push(`${asset.symbol} is the native token, and a path to it must have one pool`);
		}
	}
	return problems;
}

function repeated<T>(values: T[]): T[] {
	return [...new Set(values.filter((value, i) => values.indexOf(value) !== i))];
}
