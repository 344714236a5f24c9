import { startTestChains } from "@geoswap/devnet";
import { fromSolanaWord, type QuoteRequest, SwapError, solanaChainId } from "@geoswap/protocol";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import type { Address } from "viem";
import type { FeedAnswer } from "../../src/chain/evm/read/light-call.ts";
import { createDesk } from "../../src/desk/create-desk.ts";
import type { Desk } from "../../src/desk/desk.ts";
import { deskChains, type Side } from "../../src/desk/desk-chain.ts";
import type { PriceCache } from "../../src/desk/price/price-cache.ts";
import { testSolanaDeployment } from "../order/test-solana-deployment.ts";
import { readTestPrices, testConfig, testPriceCache, withSolana } from "./test-prices.ts";

export const evmWallet = "0x1111111111111111111111111111111111111111";
export const [one, two, solana] = [31337, 31338, solanaChainId];

/** A swap's route, with chain and symbol at each end. */
export type Way = { from: [number, string]; to: [number, string] };
export const outward: Way = { from: [one, "USDC"], to: [solana, "USDC"] };
export const inward: Way = { from: [solana, "USDC"], to: [two, "USDC"] };
export const within: Way = { from: [solana, "USDC"], to: [solana, "SOL"] };

export type SolanaDeskScene = Awaited<ReturnType<typeof startSolanaDeskScene>>;

/** Starts a desk between two chains and Solana. Its feeds are real, and prices need no Solana chain. */
export async function startSolanaDeskScene() {
	const chains = await startTestChains();
	const deployment = testSolanaDeployment(chains.origin.deployment);
	const config = withSolana(testConfig(chains), { deployment });
	const prices = await Promise.all(
		[chains.origin, chains.destination].map((chain) => readTestPrices(chain, deployment)),
	);
	const nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000 + 250;
	const priceCache = testPriceCache(config, prices, { nowMs });
	const { address: wallet } = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(5));

	return {
		chains,
		deployment,
		config,
		nowMs,
		priceCache,
		desk: deskWith(priceCache),
		/** A wallet on Solana. */
		wallet,
		deskWith,
		priceCacheWith,
		movedPriceCache,
		side,
		worth,
		request,
		stop: chains.stop,
	};

	function deskWith(own: PriceCache): Desk {
		return createDesk({
			config,
			priceCache: own,
			nowMs: () => nowMs,
			random: (size) => new Uint8Array(size).fill(7),
		});
	}

	/** Returns the price cache that would result from these answers of the feeds of Solana's assets. */
	function priceCacheWith(answers: Record<string, Partial<FeedAnswer>>): PriceCache {
		const changed = prices.map((block) => {
			const feeds = new Map(block.feeds);
			for (const { symbol, feed } of deployment.assets) {
				const before = feeds.get(feed.address);
				if (before && answers[symbol]) feeds.set(feed.address, { ...before, ...answers[symbol] });
			}
			return { ...block, feeds };
		});
		return testPriceCache(config, changed, { nowMs });
	}

	/** Returns the price cache after the feed of each volatile asset has moved by this many basis points. */
	function movedPriceCache(bpsOf: (symbol: string) => number): PriceCache {
		const changed = prices.map((block) => {
			const assets = new Map(block.assets);
			const feeds = new Map(block.feeds);
			const moved = <Answer extends FeedAnswer>(symbol: string, answer: Answer): Answer => ({
				...answer,
				usdE18: (answer.usdE18 * BigInt(10_000 + bpsOf(symbol))) / 10_000n,
			});
			for (const { symbol, kind, address } of deskChains(config).get(block.chainId)?.assets ?? []) {
				const before = assets.get(address as Address);
				if (kind === "volatile" && before)
					assets.set(address as Address, { ...before, feed: moved(symbol, before.feed) });
			}
			for (const { symbol, kind, feed } of deployment.assets) {
				const before = feeds.get(feed.address);
				if (kind === "volatile" && before) feeds.set(feed.address, moved(symbol, before));
			}
			return { ...block, assets, feeds };
		});
		return testPriceCache(config, changed, { nowMs });
	}

	function side(chainId: number, symbol: string): Side {
		const chain = deskChains(config).get(chainId);
		const asset = chain?.assets.find((candidate) => candidate.symbol === symbol);
		if (!chain || !asset) throw new Error(`no ${symbol} on ${chainId}`);
		return { chain, asset };
	}

	function tokenOf(chainId: number, symbol: string): string {
		const { address } = side(chainId, symbol).asset;
		return chainId === solana ? fromSolanaWord(address) : address;
	}

	function worth([chainId, symbol]: [number, string], usd: number, own = priceCache): bigint {
		const { usdE18, decimals } = own.reference({ chainId, asset: side(chainId, symbol).asset.address });
		return (BigInt(usd) * 10n ** BigInt(18 + decimals)) / usdE18;
	}

	/** Returns a request for ten dollars, with a recipient if one is needed. */
	function request({ from, to, ...change }: Way & Partial<QuoteRequest>): QuoteRequest {
		const needsRecipient = (from[0] === solana) !== (to[0] === solana);
		return {
			originChain: from[0],
			destinationChain: to[0],
			inputToken: tokenOf(...from),
			outputToken: tokenOf(...to),
			amount: worth(from, 10),
			walletAddress: from[0] === solana ? wallet : evmWallet,
			recipient: needsRecipient ? (to[0] === solana ? wallet : evmWallet) : undefined,
			slippageBps: undefined,
			...change,
		};
	}
}

/** Returns the error of the catalogue that the function throws. */
export function refusal(run: () => unknown): SwapError {
	try {
		run();
	} catch (error) {
		if (error instanceof SwapError) return error;
		throw error;
	}
	throw new Error("was not refused");
}
