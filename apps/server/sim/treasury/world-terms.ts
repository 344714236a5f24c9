import { type Address, zeroAddress } from "viem";

/** The worlds' fixed terms: four chains, as their providers publish them. Times are in seconds, and a block is one. */
export const weekSeconds = 7 * 86_400;
export const daySeconds = 86_400;

export type ChainTerms = {
	chainId: number;
	name: string;
	vault: Address;
	relayer: Address;
	usdc: Address;
	/** From a fill to the attesters' signature for its input. */
	finalSeconds: number;
	/** A usual gas price, at which a burn costs about 4 USD on Ethereum and 0.03 USD on a rollup. */
	gasPriceWei: number;
	/** The relayer's balance at the start. */
	relayerWei: bigint;
	/** Gas that a relayer is expected to spend in an hour, which its cap on sends follows from. */
	gasPerHourWei: bigint;
	/** Value in USD at which a pool's price has fallen by 10 basis points. */
	poolDepthUsd: number;
};

const address = (last: string): Address => `0x${last.padStart(40, "0")}`;

export const native: Address = zeroAddress;

export const chains: readonly ChainTerms[] = [
	{
		chainId: 1,
		name: "Ethereum",
		vault: address("e1"),
		relayer: address("e2"),
		usdc: address("e3"),
		finalSeconds: 960,
		gasPriceWei: 10e9,
		relayerWei: 3n * 10n ** 18n,
		gasPerHourWei: 50n * 10n ** 15n,
		poolDepthUsd: 50_000,
	},
	{
		chainId: 8453,
		name: "Base",
		vault: address("b1"),
		relayer: address("b2"),
		usdc: address("b3"),
		finalSeconds: 1_200,
		gasPriceWei: 75e6,
		relayerWei: 3n * 10n ** 16n,
		gasPerHourWei: 5n * 10n ** 14n,
		poolDepthUsd: 15_000,
	},
	{
		chainId: 42161,
		name: "Arbitrum",
		vault: address("a1"),
		relayer: address("a2"),
		usdc: address("a3"),
		finalSeconds: 1_080,
		gasPriceWei: 75e6,
		relayerWei: 3n * 10n ** 16n,
		gasPerHourWei: 5n * 10n ** 14n,
		poolDepthUsd: 15_000,
	},
	{
		chainId: 10,
		name: "OP Mainnet",
		vault: address("01"),
		relayer: address("02"),
		usdc: address("03"),
		finalSeconds: 1_080,
		gasPriceWei: 75e6,
		relayerWei: 3n * 10n ** 16n,
		gasPerHourWei: 5n * 10n ** 14n,
		poolDepthUsd: 15_000,
	},
];

/** The settlement tokens of all chains at the start, in dollars. */
const inventoryUsd = 50_000;
export const targetUsdc = (BigInt(inventoryUsd) * 1_000_000n) / BigInt(chains.length);
export const netFeeCentibps = 1_250;

/** Caps of the vaults, by the hour. */
export const capsPerHour = {
	tradeUsdc: BigInt(inventoryUsd) * 100_000n,
	/** A tenth of the inventory in ETH, at the price of the start. */
	tradeWei: 2n * 10n ** 18n,
	bridgeUsdc: BigInt(inventoryUsd) * 250_000n,
	/** Gas of 12 hours at three times the price. */
	sendHours: 36n,
};

/** Published times and fees of CCTP, in seconds and hundredths of a basis point. */
export const cctp = {
	standard: { from: 13 * 60, to: 19 * 60, feeCentibps: 0 },
	fast: { from: 8, to: 20, feeCentibps: 100 },
};

/** Gas of transactions, as docs/measured.md has it for bundles of one and of ten. */
export const gasUnits = {
	open: { base: 29_000, each: 56_000 },
	fill: { base: 50_000, each: 39_400 },
	release: { base: 50_000, each: 16_400 },
	trade: 180_000,
	send: 60_000,
	burn: 160_000,
	mint: 240_000,
	reverted: 50_000,
};
