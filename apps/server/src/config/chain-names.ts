import { formatAddress } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";
import type { Config } from "./config.ts";
import { configuredAssets } from "./configured-assets.ts";
import { createExplorerPages } from "./explorer-pages.ts";

/** Names of chains and tokens, and where explorers show their transactions. */
export type ChainNames = {
	name(chainId: number): string;
	/** Replaces the chains' numbers in a sentence by their names. */
	withNames(text: string): string;
	/** Returns the explorer's page of a transaction; undefined if the chain has none. */
	transactionUrl(chainId: number, hash: string): string | undefined;
	addressUrl(chainId: number, address: string): string | undefined;
	/**
	 * Returns the amount in whole tokens and the token's symbol. A token that is not listed has its address as symbol.
	 */
	tokens(chainId: number, token: Hex, amount: bigint): { amount: string; symbol: string };
	nativeAmount(chainId: number, amount: bigint): { amount: string; symbol: string };
};

export function createChainNames({ chains }: Pick<Config, "chains">): ChainNames {
	const assets = new Map(
		configuredAssets({ chains }).map((asset) => [`${asset.chainId} ${asset.token.toLowerCase()}`, asset]),
	);
	const natives = new Map(
		configuredAssets({ chains }).flatMap((asset) => (asset.isNative ? [[asset.chainId, asset.symbol]] : [])),
	);
	const chainOf = (chainId: number) => chains.find((chain) => chain.chainId === chainId);
	const name = (chainId: number) => chainOf(chainId)?.deployment.name ?? `chain ${chainId}`;
	const explorers = createExplorerPages({ chains });
	return {
		name,
		withNames: (text) => text.replace(/\bchain (\d+)\b/g, (_, id: string) => name(Number(id))),
		transactionUrl: explorers.transaction,
		addressUrl: explorers.address,
		tokens: (chainId, token, amount) => {
			const asset = assets.get(`${chainId} ${token.toLowerCase()}`);
			return asset
				? { amount: formatUnits(amount, asset.decimals), symbol: asset.symbol }
				: { amount: String(amount), symbol: `units of ${formatAddress(chainId, token)}` };
		},
		nativeAmount: (chainId, amount) => ({
			amount: formatUnits(amount, chainOf(chainId)?.nativeDecimals ?? 0),
			symbol: natives.get(chainId) ?? "native",
		}),
	};
}
