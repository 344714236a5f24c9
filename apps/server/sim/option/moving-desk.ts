import type { AssetDeployment, ChainDeployment } from "@geoswap/protocol";
import { type Address, numberToHex } from "viem";
import { noL1Rates } from "../../src/chain/evm/fee/fee-model.ts";
import type { FeedAnswer } from "../../src/chain/evm/read/light-call.ts";
import type { BlockPrices, Ladder } from "../../src/chain/evm/read/read-block-prices.ts";
import { solanaChain } from "../../src/config/chain-config.ts";
import { type Config, configSchema } from "../../src/config/config.ts";
import { joinDeployment } from "../../src/config/read-config.ts";
import { createDesk } from "../../src/desk/create-desk.ts";
import type { Desk } from "../../src/desk/desk.ts";
import { createPriceCache } from "../../src/desk/price/price-cache.ts";
import { testSolanaDeployment } from "../../test/order/test-solana-deployment.ts";
import { simEvmDeployment } from "../evm/sim-evm-deployment.ts";

/** The USD price of a whole token. Stablecoins are worth one. */
export type Market = { ETH: number; SOL: number };

export const market: Market = { ETH: 2_500, SOL: 150 };

/** Block time of both EVM chains, as on Ethereum, where a signed fill waits the longest. */
export const blockSeconds = 12;

/** Prices of a block count only if the two blocks before it have the same. */
const blocksThatCount = 3;
const startMs = 1_800_000_000_000;
const poolFee = 500n;
const million = 1_000_000n;

export type MovingDesk = {
	desk: Desk;
	chains: { east: ChainDeployment; west: ChainDeployment };
	config: Config;
	/** Sets the prices of the pools and feeds of both chains, for as many blocks as count. */
	move: (to: Market) => void;
};

/** Creates the real desk over a real price cache, with a market that the caller moves. */
export function createMovingDesk({
	optionCentibps,
	volatilityPercent,
}: Partial<Pick<Config["price"], "optionCentibps" | "volatilityPercent">>): MovingDesk {
	const attester: Address = "0x00000000000000000000000000000000000000a1";
	const attesterSet = { threshold: 1, attesters: [attester] };
	// The first of the devnet's chains. Its feeds price Solana's assets.
	const east = simEvmDeployment({ chainId: 31_337, name: "East", attesterSet });
	const west = simEvmDeployment({ chainId: 31_338, name: "West", attesterSet });
	const deployment = testSolanaDeployment(east);
	const terms = {
		nodes: [{ url: "http://node.invalid" }],
		finalitySeconds: 900,
		fillSeconds: 3_600,
		refundSeconds: 7_200,
	};
	const file = configSchema.parse({
		deployment: "",
		chains: { [east.chainId]: terms, [west.chainId]: terms },
		solana: terms,
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://engine.invalid", adminUrl: "http://engine.invalid" },
		price: { ...(optionCentibps && { optionCentibps }), ...(volatilityPercent && { volatilityPercent }) },
	});
	const config = joinDeployment("the desk", file, { chains: [east, west], solana: deployment });
	const priceCache = createPriceCache({ ...config.price, solana: solanaChain(config), chains: [east, west] });
	const solFeed = deployment.assets.find(({ symbol }) => symbol === "SOL")?.feed.address;
	if (!solFeed) throw new Error("Solana has a native token");
	let nowMs = startMs;
	let blockNumber = 1;
	const move = (to: Market) => {
		for (let i = 0; i < blocksThatCount; i++) {
			nowMs += blockSeconds * 1_000;
			blockNumber += 1;
			for (const chain of [east, west]) {
				priceCache.update(blockPrices(chain, { market: to, solFeed, nowMs, blockNumber }), { nowMs });
			}
		}
	};
	move(market);
	const desk = createDesk({ config, priceCache, nowMs: () => nowMs, random: (size) => new Uint8Array(size) });
	return { desk, chains: { east, west }, config, move };
}

function blockPrices(
	{ chainId, assets }: ChainDeployment,
	{
		market: { ETH, SOL },
		solFeed,
		nowMs,
		blockNumber,
	}: { market: Market; solFeed: Address; nowMs: number; blockNumber: number },
): BlockPrices {
	const timestampUnixSeconds = nowMs / 1_000;
	const feedAt = (usd: number): FeedAnswer => ({
		usdE18: e18Of(usd),
		updatedAtUnixSeconds: timestampUnixSeconds,
	});
	const usdOf = ({ symbol, kind }: AssetDeployment) => (kind === "stable" ? 1 : symbol === "ORB" ? 7 : ETH);
	const settlement = { usd: 1, decimals: 6 };
	return {
		chainId,
		blockHash: numberToHex(blockNumber, { size: 32 }),
		blockNumber,
		timestampUnixSeconds,
		// Gas costs nearly nothing, because network costs are not part of the option.
		fees: { baseFee: 1n, tip: 1_000_000n, l1: noL1Rates },
		tipReadAtUnixSeconds: timestampUnixSeconds,
		assets: new Map(
			assets.map((asset) => {
				const side = { usd: usdOf(asset), decimals: asset.decimals };
				const ladders = (from: typeof side, to: typeof side): Ladder[] =>
					asset.paths.length > 0 ? [ladder(from, to)] : [];
				return [
					asset.address,
					{ feed: feedAt(side.usd), sell: ladders(side, settlement), buy: ladders(settlement, side) },
				];
			}),
		),
		feeds: new Map([
			[solFeed, feedAt(SOL)],
			...assets.flatMap((asset): [Address, FeedAnswer][] =>
				asset.feed ? [[asset.feed.address, feedAt(usdOf(asset))]] : [],
			),
		]),
	};
}

type Priced = { usd: number; decimals: number };

/** Returns the ladder of a pool that never runs dry, and takes its fee. */
function ladder(from: Priced, to: Priced): Ladder {
	const rungs = [10, 1_000, 100_000, 1_000_000].map((usd) => {
		const input = (e18Of(usd) * 10n ** BigInt(from.decimals)) / e18Of(from.usd);
		const fair = (input * e18Of(from.usd) * 10n ** BigInt(to.decimals)) / e18Of(to.usd);
		const output = (fair / 10n ** BigInt(from.decimals)) * (million - poolFee);
		return { input, output: output / million };
	});
	return { fees: [Number(poolFee)], rungs };
}

/** Returns the amount to the billionth of a dollar. */
function e18Of(usd: number): bigint {
	return BigInt(Math.round(usd * 1e9)) * 10n ** 9n;
}
