import type { TestChain, TestChains } from "@geoswap/devnet";
import type { SolanaDeployment } from "@geoswap/protocol";
import type { Hash } from "viem";
import { connectChain } from "../../src/chain/evm/connect-chain.ts";
import { type BlockPrices, readBlockPrices } from "../../src/chain/evm/read/read-block-prices.ts";
import { evmChains, solanaChain, solanaChainConfig } from "../../src/config/chain-config.ts";
import { solanaTermsSchema } from "../../src/config/chain-terms.ts";
import { type Config, configSchema } from "../../src/config/config.ts";
import { joinDeployment } from "../../src/config/read-config.ts";
import { createPriceCache, type PriceCache } from "../../src/desk/price/price-cache.ts";

/** Returns the devnet's configuration, on the test's own chains. */
export function testConfig({ origin, destination, deployment }: TestChains): Config {
	const file = configSchema.parse({
		deployment: "",
		chains: Object.fromEntries(
			[origin, destination].map(({ chainId, rpcUrl }) => [
				chainId,
				{
					nodes: [{ url: rpcUrl }],
					depths: [{ upToUsd: 1_000_000, blocks: 1 }],
					finalitySeconds: 5,
					openSeconds: 75,
					fillSeconds: 45,
					refundSeconds: 30,
				},
			]),
		),
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:1" },
	});
	return joinDeployment("the test", file, deployment);
}

/** Returns the configuration with Solana added, at the devnet's terms. */
export function withSolana(
	config: Config,
	{ rpcUrl = "http://127.0.0.1:1", deployment }: { rpcUrl?: string; deployment: SolanaDeployment },
): Config {
	const pace = { finalitySeconds: 10, openSeconds: 75, fillSeconds: 45, refundSeconds: 60 };
	const terms = solanaTermsSchema.parse({ nodes: [{ url: rpcUrl }], ...pace });
	return {
		...config,
		deployment: { ...config.deployment, solana: deployment },
		chains: [...config.chains, solanaChainConfig(terms, deployment)],
	};
}

const pythId: Hash = `0x${"11".repeat(32)}`;

/** Returns the configuration with an asset delivered from inventory on both chains, and its ids at Pyth on each. */
export function withInventoryOf(
	symbol: string,
	config: Config,
	pythIds: readonly (Hash | undefined)[] = [pythId, pythId],
): Config {
	const chains = config.chains.map((chain, i) => {
		if (chain.kind === "solana") return chain;
		const id = pythIds[i];
		const assets = chain.deployment.assets.map(({ pythId: _, ...asset }) =>
			asset.symbol === symbol && id ? { ...asset, pythId: id } : asset,
		);
		return {
			...chain,
			assets: { ...chain.assets, [symbol]: { fromInventory: true } },
			deployment: { ...chain.deployment, assets },
		};
	});
	return { ...config, chains };
}

export async function readTestPrices(
	{ chainId, rpcUrl, deployment }: TestChain,
	solana?: SolanaDeployment,
): Promise<BlockPrices> {
	const chain = connectChain({ chainId, rpcUrl, deployment });
	const feedsForOthers = (solana?.assets ?? [])
		.filter(({ feed }) => feed.chainId === chainId)
		.map(({ feed }) => feed.address);
	return readBlockPrices(chain, {
		block: await chain.client.getBlock(),
		topUsd: 500_000,
		tips: { minimum: 1_000_000n, maximum: 1_000_000n },
		feedsForOthers,
	});
}

/** Creates a price cache with these prices only. */
export function testPriceCache(
	config: Config,
	prices: readonly BlockPrices[],
	{ nowMs }: { nowMs: number },
): PriceCache {
	const priceCache = createPriceCache({
		...config.price,
		solana: solanaChain(config),
		chains: evmChains(config).map(({ deployment }) => deployment),
	});
	for (const block of prices) priceCache.update(block, { nowMs });
	return priceCache;
}
