import { setTimeout as sleep } from "node:timers/promises";
import type { Milliseconds } from "@geoswap/protocol";
import type { Address, Hash } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import type { TipBounds } from "../../chain/evm/fee/read-tip.ts";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";
import { type BlockPrices, readBlockPrices } from "../../chain/evm/read/read-block-prices.ts";
import { assetsPricedOn, evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import { readOptionalSecret } from "../../config/secrets.ts";
import type { Log } from "../../telemetry/log.ts";
import { configPriceCache } from "./config-price-cache.ts";
import { keepPyth } from "./keep-pyth.ts";
import { keepQuoter } from "./keep-quoter.ts";
import type { PriceCache } from "./price-cache.ts";
import type { PriceNews } from "./price-news.ts";
import { describeStop } from "./price-stop.ts";
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

/** The maximum time for which a subscription without news is trusted. */
const quietMs = 10_000;

/**
 * Puts prices of a chain's newest blocks into the price cache until the signal aborts. Skips a block that cannot be
 * read.
 */
export async function pollPrices({
	chain,
	priceCache,
	topUsd,
	tips,
	feedsForOthers = [],
	references = () => new Map(),
	turns,
	nowMs,
	signal,
	log,
}: {
	chain: EvmChain;
	priceCache: Pick<PriceCache, "update">;
	/** The size of the top rung. */
	topUsd: number;
	tips: TipBounds;
	feedsForOthers?: readonly Address[];
	/** Returns the prices of assets that have no feed, by the asset's address. */
	references?: () => ReadonlyMap<Address, FeedAnswer>;
	/** Decides when to read. */
	turns: Pick<PriceTurns, "pause" | "noteRead">;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	let previous: BlockPrices | undefined;
	let askedAtMs = Number.NEGATIVE_INFINITY;
	while (!signal.aborted) {
		try {
			// A node that notifies of each block need not be polled for one. It is polled now and then, because the
			// subscription may have failed.
			const told = chain.news?.told();
			const isQuiet = told !== undefined && told <= (previous?.blockNumber ?? -1);
			const block = isQuiet && nowMs() - askedAtMs < quietMs ? undefined : await chain.client.getBlock();
			if (block) askedAtMs = nowMs();
			if (block && block.hash !== previous?.blockHash) {
				const known = { previous, references: references() };
				previous = await readBlockPrices(chain, { block, topUsd, tips, feedsForOthers, ...known });
				priceCache.update(previous, { nowMs: nowMs() });
			}
		} catch (error) {
			if (!signal.aborted) log.warn({ chainId: chain.chainId, err: error }, "prices could not be read");
		}
		turns.noteRead();
		await turns.pause();
	}
}

const everyMs = 1_000;

/**
 * Logs each asset that is no longer quoted, with the reason, and each that is quoted again, until the signal aborts.
 */
async function logStoppedAssets({
	config,
	priceCache,
	nowMs,
	signal,
	log,
}: {
	config: Pick<Config, "chains">;
	priceCache: Pick<PriceCache, "stopOf">;
	nowMs: () => Milliseconds;
	signal: AbortSignal;
	log: Log;
}): Promise<void> {
	const tell = createStopTeller({ config, priceCache, log });
	while (!signal.aborted) {
		tell(nowMs());
		await sleep(everyMs, undefined, { signal }).catch(() => {});
	}
}

/** Returns a function that logs what has changed since its last call. */
export function createStopTeller({
	config,
	priceCache,
	log,
}: {
	config: Pick<Config, "chains">;
	priceCache: Pick<PriceCache, "stopOf">;
	log: Pick<Log, "warn" | "info">;
}): (nowMs: Milliseconds) => void {
	const told = new Map<string, string>();
	return (nowMs) => {
		for (const { chainId, symbol, token } of configuredAssets(config)) {
			const stop = priceCache.stopOf({ chainId, asset: token }, { nowMs });
			// A chain without fresh prices is logged once, not for each asset.
			if (stop?.reason === "prices-old") continue;
			const key = `${chainId} ${token}`;
			const because = stop && describeStop(stop);
			if (because === told.get(key)) continue;
			const asset = { chainId, symbol };
			if (because === undefined) {
				told.delete(key);
				log.info(asset, "the asset is quoted again");
			} else {
				told.set(key, because);
				log.warn({ ...asset, because }, "the asset is not quoted until its price is certain again");
			}
		}
	};
}
