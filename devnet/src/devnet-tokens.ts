import { parseUnits } from "viem";

/** Feeds have eight decimals, as Chainlink's have. */
export const feedDecimals = 8;

/** A token of the devnet, with its price and the amounts that vaults and wallets hold. */
export type DevnetToken = {
	symbol: string;
	name: string;
	decimals: number;
	kind: "stable" | "volatile";
	contract: "DevToken" | "DevTokenWithoutReturn" | "WETH9";
	usd: string;
	heartbeatSeconds: number;
	/** Fee tiers from the settlement token: one for a direct pool, two for a path through WETH. */
	paths: number[][];
	/** In whole tokens. */
	inventory: string;
	perWallet: string;
	outflowPerHour: string;
	/** How much of it the treasurer's key can trade in an hour. */
	tradePerHour: string;
};

const hour = 3_600;

export const settlementSymbol = "USDC";
export const wrappedNativeSymbol = "WETH";

/** The feeds' heartbeats are Chainlink's on Ethereum: an hour for ether, a day for stables. */
export const devnetTokens: readonly DevnetToken[] = [
	{
		symbol: settlementSymbol,
		name: "Devnet USD Coin",
		decimals: 6,
		kind: "stable",
		contract: "DevToken",
		usd: "1",
		heartbeatSeconds: 24 * hour,
		paths: [],
		inventory: "5000000",
		perWallet: "100000",
		outflowPerHour: "2000000",
		tradePerHour: "500000",
	},
	{
		symbol: "USDT",
		name: "Devnet Tether USD",
		decimals: 6,
		kind: "stable",
		contract: "DevTokenWithoutReturn",
		usd: "1",
		heartbeatSeconds: 24 * hour,
		paths: [[100]],
		inventory: "5000000",
		perWallet: "100000",
		outflowPerHour: "2000000",
		tradePerHour: "500000",
	},
	{
		symbol: wrappedNativeSymbol,
		name: "Wrapped Ether",
		decimals: 18,
		kind: "volatile",
		contract: "WETH9",
		usd: "3000",
		heartbeatSeconds: hour,
		paths: [[500]],
		inventory: "1000",
		perWallet: "30",
		outflowPerHour: "500",
		tradePerHour: "100",
	},
	{
		symbol: "ORB",
		name: "Devnet Orb",
		decimals: 18,
		kind: "volatile",
		contract: "DevToken",
		usd: "2.5",
		heartbeatSeconds: hour,
		paths: [[3000], [500, 3000]],
		inventory: "1000000",
		perWallet: "40000",
		outflowPerHour: "500000",
		tradePerHour: "100000",
	},
];

/** The native token. Its decimals, feed and paths are WETH's; its address is the zero address. */
export const devnetNative = {
	symbol: "ETH",
	inventory: "1000",
	outflowPerHour: "500",
	tradePerHour: "100",
	/** How much of it the treasurer's key can send to each relayer in an hour. */
	sendPerHour: "10",
} as const;

/**
 * How far each feed may lag behind the market, as deployments state it. The server's own defaults cover this for
 * Solana.
 */
export const deviationBps: Record<"stable" | "volatile", number> = { stable: 5, volatile: 30 };

/** Solana's native token. The EVM chains have only its price. */
export const devnetSol = { symbol: "SOL", usd: "150", heartbeatSeconds: hour } as const;

/** The token whose holders pay lower fees. It is not quoted, since it has no pool and no feed. */
export const devnetFeeDiscountToken = {
	symbol: "GEO",
	name: "Devnet Geo",
	decimals: 18,
	/** Whole tokens per wallet: the first wallet has none, the next ones more and more. */
	perWallet: ["0", "1000", "10000", "100000"],
} as const;

/** A pool, and the USD value on either side of each of its positions. */
export type DevnetPool = {
	symbols: readonly [string, string];
	fee: number;
	tickSpacing: number;
	positions: readonly { usdPerSide: string; widthTicks: number | "full" }[];
};

/**
 * Each pool has a full-range position, so that no price move leaves it dry, and most of its depth around the price. A
 * tick is a hundredth of a percent.
 */
export const devnetPools: readonly DevnetPool[] = [
	{
		symbols: ["WETH", "USDC"],
		fee: 500,
		tickSpacing: 10,
		positions: [
			{ usdPerSide: "200000000", widthTicks: "full" },
			{ usdPerSide: "50000000", widthTicks: 1_000 },
		],
	},
	{
		symbols: ["ORB", "USDC"],
		fee: 3000,
		tickSpacing: 60,
		positions: [
			{ usdPerSide: "50000000", widthTicks: "full" },
			{ usdPerSide: "10000000", widthTicks: 1_200 },
		],
	},
	{
		symbols: ["ORB", "WETH"],
		fee: 3000,
		tickSpacing: 60,
		positions: [
			{ usdPerSide: "50000000", widthTicks: "full" },
			{ usdPerSide: "10000000", widthTicks: 1_200 },
		],
	},
	{
		symbols: ["USDT", "USDC"],
		fee: 100,
		tickSpacing: 1,
		positions: [
			{ usdPerSide: "50000000", widthTicks: "full" },
			{ usdPerSide: "50000000", widthTicks: 50 },
		],
	},
];

export function devnetToken(symbol: string): DevnetToken {
	const token = devnetTokens.find((token) => token.symbol === symbol);
	if (!token) throw new Error(`the devnet has no ${symbol}`);
	return token;
}

/** A token's smallest unit and price. */
export type PricedToken = Pick<DevnetToken, "decimals" | "usd">;

/** Returns how many of the token's smallest units this amount of USD buys. */
export function unitsForUsd({ decimals, usd }: PricedToken, amountUsd: string): bigint {
	return (parseUnits(amountUsd, decimals) * 10n ** BigInt(feedDecimals)) / parseUnits(usd, feedDecimals);
}
