import type { AssetDeployment, ChainDeployment, SolanaDeployment } from "@geoswap/protocol";
import { type Address, numberToHex } from "viem";
import { noL1Rates } from "../src/chain/evm/fee/fee-model.ts";
import type { FeedAnswer } from "../src/chain/evm/read/light-call.ts";
import type { BlockPrices, Ladder } from "../src/chain/evm/read/read-block-prices.ts";

const e18 = 10n ** 18n;
const million = 1_000_000n;
const sizesUsd = [10n, 1_000n, 100_000n, 500_000n];

/** Returns the price of a whole token. Volatile ones are off their usual price by `offBps`. */
export function usdE18Of(symbol: string, { kind }: { kind: "stable" | "volatile" }, offBps: number): bigint {
	if (kind === "stable") return e18;
	const usual = /ETH/.test(symbol) ? 2_500n : /SOL/.test(symbol) ? 150n : 7n;
	return (usual * e18 * BigInt(10_000 + offBps)) / 10_000n;
}

/** Returns the prices of one block. Pools take their fee and never run dry, and feeds agree with them. */
export function simPrices({
	deployment,
	solana,
	nowMs,
	blockNumber,
	offBps,
}: {
	deployment: ChainDeployment;
	solana: SolanaDeployment;
	nowMs: number;
	blockNumber: number;
	/** Deviation of volatile assets from their usual prices. */
	offBps: number;
}): BlockPrices {
	const updatedAtUnixSeconds = Math.floor(nowMs / 1_000);
	const feedOf = (asset: { symbol: string; kind: "stable" | "volatile" }): FeedAnswer => ({
		usdE18: usdE18Of(asset.symbol, asset, offBps),
		updatedAtUnixSeconds,
	});
	const settlement = deployment.assets.find(({ address }) => address === deployment.settlementToken);
	if (!settlement) throw new Error("a chain has a settlement token");
	const feeds = new Map<Address, FeedAnswer>(
		[
			...deployment.assets,
			...solana.assets.filter(({ feed }) => feed.chainId === deployment.chainId),
		].flatMap((asset): [Address, FeedAnswer][] => (asset.feed ? [[asset.feed.address, feedOf(asset)]] : [])),
	);
	return {
		chainId: deployment.chainId,
		blockHash: numberToHex(blockNumber, { size: 32 }),
		blockNumber,
		timestampUnixSeconds: updatedAtUnixSeconds,
		fees: { baseFee: 1_000_000n, tip: 1_000_000n, l1: noL1Rates },
		tipReadAtUnixSeconds: updatedAtUnixSeconds,
		assets: new Map(
			deployment.assets.map((asset) => [
				asset.address,
				{
					feed: feedOf(asset),
					buy: laddersOf(asset, { from: settlement, to: asset, offBps }),
					sell: laddersOf(asset, { from: asset, to: settlement, offBps }),
				},
			]),
		),
		feeds,
	};
}

function laddersOf(
	{ paths }: AssetDeployment,
	{ from, to, offBps }: { from: AssetDeployment; to: AssetDeployment; offBps: number },
): Ladder[] {
	const [priceOfOne, priceOfOther] = [from, to].map((asset) => usdE18Of(asset.symbol, asset, offBps));
	if (!priceOfOne || !priceOfOther) return [];
	return paths.map((fees) => ({
		fees,
		rungs: sizesUsd.map((usd) => {
			const input = (usd * 10n ** BigInt(from.decimals) * e18) / priceOfOne;
			return { input, output: poolOutput({ input, from, to, fees, offBps }) };
		}),
	}));
}

/** Returns the output of the pools on a path, at the same rate for any size. */
function poolOutput({
	input,
	from,
	to,
	fees,
	offBps,
}: {
	input: bigint;
	from: Pick<AssetDeployment, "symbol" | "kind" | "decimals">;
	to: Pick<AssetDeployment, "symbol" | "kind" | "decimals">;
	fees: readonly number[];
	offBps: number;
}): bigint {
	const value = input * usdE18Of(from.symbol, from, offBps) * 10n ** BigInt(to.decimals);
	const fair = value / (usdE18Of(to.symbol, to, offBps) * 10n ** BigInt(from.decimals));
	return fees.reduce((left, fee) => (left * (million - BigInt(fee))) / million, fair);
}
