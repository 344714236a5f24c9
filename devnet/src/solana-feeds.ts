import { deterministicDeployment } from "@geoswap/contracts";
import type { ChainDeployment, SolanaAssetDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import { devnetChains } from "./devnet-chain.ts";
import { deviationBps, devnetSol } from "./devnet-tokens.ts";
import { feedInitCode } from "./feed-init-code.ts";

/** Returns true for the first EVM chain, the only one with SOL's feed. This feed prices SOL on every chain. */
export function hasSolFeed({ chainId }: { chainId: number }): boolean {
	return chainId === devnetChains[0].chainId;
}

let address: Address | undefined;

/** Returns the address of SOL's feed, which follows from its code. */
export function solFeedAddress(): Address {
	address ??= deterministicDeployment(solFeedInitCode()).address;
	return address;
}

export function solFeedInitCode() {
	return feedInitCode({ name: devnetSol.symbol, usd: devnetSol.usd });
}

/** Returns the feed that prices each of Solana's assets, all on the first EVM chain. */
export function solanaFeeds(
	chain: ChainDeployment,
): Record<"USDC" | "USDT" | "SOL", SolanaAssetDeployment["feed"]> {
	const { chainId, assets } = chain;
	if (!hasSolFeed(chain)) throw new Error(`SOL has no feed on chain ${chainId}`);
	const feedOf = (symbol: string) => {
		const asset = assets.find((candidate) => candidate.symbol === symbol);
		if (!asset?.feed) throw new Error(`chain ${chainId} has no feed of ${symbol}`);
		return { ...asset.feed, chainId, deviationBps: deviationBps[asset.kind] };
	};
	return {
		USDC: feedOf("USDC"),
		USDT: feedOf("USDT"),
		SOL: {
			chainId,
			address: solFeedAddress(),
			heartbeatSeconds: devnetSol.heartbeatSeconds,
			deviationBps: deviationBps.volatile,
		},
	};
}
