import type { TestChain, TestChains } from "@geoswap/devnet";
import type { SolanaDeployment } from "@geoswap/protocol";
import { connectChain } from "../../src/chain/evm/chain-client.ts";
import { type BlockPrices, readBlockPrices } from "../../src/chain/evm/read/read-block-prices.ts";
import { type Config, configSchema } from "../../src/config/config.ts";
import { createPriceBook, type PriceBook } from "../../src/desk/price/price-book.ts";

/** Returns the devnet's configuration, on the test's own chains. */
export function testConfig({ origin, destination, deployment }: TestChains): Config {
	const {
		chains,
		solana: _,
		...config
	} = configSchema.parse({
		deployment: "",
		chains: Object.fromEntries(
			[origin, destination].map(({ chainId, rpcUrl }) => [
				chainId,
				{
					rpcUrl,
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
	return {
		...config,
		deployment,
		chains: [origin, destination].flatMap(({ chainId, deployment }) => {
			const chain = chains[chainId];
			return chain ? [{ ...chain, chainId, deployment }] : [];
		}),
	};
}

/** Returns the configuration with Solana added, at the devnet's terms. */
export function withSolana(
	config: Config,
	{ rpcUrl = "http://127.0.0.1:1", deployment }: { rpcUrl?: string; deployment: SolanaDeployment },
): Config {
	const { solana } = configSchema
		.pick({ solana: true })
		.parse({ solana: { rpcUrl, finalitySeconds: 10, openSeconds: 75, fillSeconds: 45, refundSeconds: 60 } });
	if (!solana) throw new Error("it was given");
	return {
		...config,
		deployment: { ...config.deployment, solana: deployment },
		solana: { ...solana, chainId: deployment.chainId, deployment },
	};
}

export async function readTestPrices(
	{ chainId, rpcUrl, deployment }: TestChain,
	solana?: SolanaDeployment,
): Promise<BlockPrices> {
	const chain = connectChain({ chainId, rpcUrl, deployment });
	const feedsForOthers = (solana?.assets ?? [])
		.filter(({ feed }) => feed.chainId === chainId)
		.map(({ feed }) => feed.address);
	return readBlockPrices(chain, { block: await chain.client.getBlock(), topUsd: 500_000, feedsForOthers });
}

/** Creates a book with these prices only. */
export function testBook(
	{ chains, solana, price }: Config,
	prices: readonly BlockPrices[],
	{ nowMs }: { nowMs: number },
): PriceBook {
	const book = createPriceBook({ ...price, solana, chains: chains.map(({ deployment }) => deployment) });
	for (const block of prices) book.update(block, { nowMs });
	return book;
}
