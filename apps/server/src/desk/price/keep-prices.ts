import type { Milliseconds } from "@geoswap/protocol";
import type { Address, Hash } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import { assetsPricedOn, evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { readOptionalSecret } from "../../config/secrets.ts";
import type { Log } from "../../telemetry/log.ts";
import { configPriceCache } from "./config-price-cache.ts";
import { keepPyth } from "./keep-pyth.ts";
import { keepQuoter } from "./keep-quoter.ts";
import { logStoppedAssets } from "./log-stopped-assets.ts";
import { pollPrices } from "./poll-prices.ts";
import type { PriceCache } from "./price-cache.ts";
import type { PriceNews } from "./price-news.ts";
import { createPriceTurns, type PriceTurns } from "./price-turns.ts";
import type { PythPrice, PythPrices } from "./pyth-prices.ts";

export type KeptPrices = {
	priceCache: PriceCache;
	/** Marks prices of these chains as needed. If they were not needed recently, waits for a read, but not long. */
	want: (chainIds: readonly number[]) => Promise<void>;
	/** Settles when reading ends. */
	kept: Promise<unknown>;
};

/** Returns the price cache of all configured chains, kept fresh until the signal aborts. */
export function keepPrices({
	config,
	chains,
	nowMs,
	signal,
	log,
	record,
}: {
	config: Pick<Config, "chains" | "price">;
	chains: readonly EvmChain[];
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
	/** Receives all new prices after the price cache has them. If set, prices are read with every poll. */
	record?: (news: PriceNews) => void;
}): KeptPrices {
	const { price } = config;
	const solana = solanaChain(config);
	const { priceCache, learn, pythPrices } = configPriceCache(config, { nowMs });
	const tell = (news: PriceNews) => {
		learn(news);
		record?.(news);
	};
	const turns = new Map<number, PriceTurns>();
	const loops = evmChains(config).map(({ chainId, pollMs, minimumTipWei, maximumTipWei }) => {
		const ofChain = createPriceTurns({ pollMs, isAlwaysWanted: record !== undefined, nowMs, signal });
		turns.set(chainId, ofChain);
		const chain = chains.find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new Error(`chain ${chainId} is not connected`);
		return pollPrices({
			chain,
			priceCache: { update: (prices) => tell({ kind: "prices", prices }) },
			topUsd: price.ladderTopUsd,
			tips: { minimum: BigInt(minimumTipWei), maximum: BigInt(maximumTipWei) },
			feedsForOthers: assetsPricedOn(chainId, config).map(({ feed }) => feed.address),
			references: () => pricedByPyth(chain, pythPrices),
			turns: ofChain,
			nowMs,
			signal,
			log,
		});
	});
	if (price.pyth) {
		const key = readOptionalSecret("GEOSWAP_PYTH_KEY");
		const prices = { update: (answers: ReadonlyMap<Hash, PythPrice>) => tell({ kind: "pyth", answers }) };
		loops.push(keepPyth({ pyth: price.pyth, key, ids: pythIds(config), prices, signal, log }));
	}
	if (solana?.quoter) {
		loops.push(
			keepQuoter({
				quoter: solana.quoter,
				key: readOptionalSecret("GEOSWAP_QUOTER_KEY"),
				deployment: solana.deployment,
				topUsd: price.maximumUsd,
				priceCache,
				ladders: {
					update: (asset, direction, ladder) => tell({ kind: "quoter", asset, direction, ...ladder }),
				},
				nowMs,
				signal,
				log,
			}),
		);
	}
	loops.push(logStoppedAssets({ config, priceCache, nowMs, signal, log }));
	return {
		priceCache,
		want: async (chainIds) => {
			const solanaId = solanaChain(config)?.chainId;
			// Solana's assets are priced by feeds on other chains.
			const wanted = [...turns].filter(
				([chainId]) =>
					chainIds.includes(chainId) ||
					(solanaId !== undefined &&
						chainIds.includes(solanaId) &&
						assetsPricedOn(chainId, config).length > 0),
			);
			await Promise.all(wanted.map(([, ofChain]) => ofChain.want()));
		},
		kept: Promise.all(loops),
	};
}

function pythIds({ chains }: Pick<Config, "chains">): Hash[] {
	const assets = chains.flatMap(({ deployment }): { pythId?: Hash }[] => deployment.assets);
	return [...new Set(assets.flatMap(({ pythId }) => pythId ?? []))];
}

/** Returns Pyth's prices of the chain's assets that have no feed. */
function pricedByPyth(
	{ deployment }: EvmChain,
	pythPrices: PythPrices | undefined,
): Map<Address, FeedAnswer> {
	return new Map(
		deployment.assets.flatMap(({ address, feed, pythId }) => {
			const answer = feed || pythId === undefined ? undefined : pythPrices?.answerOf(pythId);
			return answer ? [[address, answer]] : [];
		}),
	);
}
