import {
	type AssetDeployment,
	type SolanaAssetDeployment,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import type { ChainConfig, EvmChainConfig, SolanaChainConfig } from "../config/chain-config.ts";
import type { Config } from "../config/config.ts";

/** An asset in the desk's form. The address is hex, and on Solana it has 32 bytes. */
export type DeskAsset = Pick<AssetDeployment, "symbol" | "decimals" | "kind" | "paths"> & {
	address: Hex;
	/** True if the asset is delivered from inventory while there is enough of it. */
	isFromInventory: boolean;
	/** The chain and address of its feed, if it has one. */
	feed: string | undefined;
	pythId: Hex | undefined;
};

/** A chain in the desk's form, with the fields that an order on it needs. */
export type DeskChain = Pick<
	ChainConfig,
	| "chainId"
	| "onlyAccounts"
	| "depths"
	| "finalitySeconds"
	| "openSeconds"
	| "fillSeconds"
	| "refundSeconds"
	| "nativeDecimals"
> & {
	name: string;
	escrow: Hex;
	vault: Hex;
	/** The attester set that decides orders opened on this chain. */
	attesterSet: Hex;
	settlementToken: Hex;
	assets: DeskAsset[];
	/** The asset whose feed prices the chain's fees. */
	native: DeskAsset;
} & ({ kind: "evm"; wrappedNative: Address } | { kind: "solana"; computePriceMicroLamports: bigint });

/** One end of a swap. */
export type Side = { chain: DeskChain; asset: DeskAsset };

/** Returns all configured chains by id. Throws if one cannot be quoted. */
export function deskChains({ chains }: Pick<Config, "chains">): Map<number, DeskChain> {
	return new Map(
		chains.map((chain) => [
			chain.chainId,
			chain.kind === "evm" ? evmDeskChain(chain) : solanaDeskChain(chain),
		]),
	);
}

/**
 * Returns true if both sides are the same asset, so that one is exchanged for the other at par. The symbol alone does
 * not prove it: the deployment must price both by the same feed or by the same id of Pyth, and the operator must
 * deliver both from inventory.
 */
export function isSameAsset({ origin, destination }: { origin: Side; destination: Side }): boolean {
	const [one, other] = [origin.asset, destination.asset];
	if (!one.isFromInventory || !other.isFromInventory) return false;
	if (one.symbol !== other.symbol || one.kind !== other.kind || one.pythId !== other.pythId) return false;
	return one.pythId !== undefined || (one.feed !== undefined && one.feed === other.feed);
}

export function isSettlement({ chain, asset }: Side): boolean {
	return asset.address === chain.settlementToken;
}

/**
 * Returns the settlement token's symbol. Tokens of two chains with the same symbol count as the same token, because
 * the symbol comes from the deployment.
 */
export function settlementSymbol({ assets, settlementToken }: DeskChain): string | undefined {
	return assets.find(({ address }) => address === settlementToken)?.symbol;
}

/**
 * Returns the token whose pools are used. The native token counts as the wrapped one, so that their volumes add up.
 */
export function pairOf({ chain, asset }: Side): { chainId: number; token: Hex } {
	const isWrapped = chain.kind === "evm" && asset.address === zeroAddress;
	return { chainId: chain.chainId, token: isWrapped ? chain.wrappedNative : asset.address };
}

/** Returns true for Solana's native token, which needs no token account. */
export function isLamports({ chain, asset }: Side): boolean {
	return chain.kind === "solana" && asset.address === zeroHash;
}

function evmDeskChain({ deployment, ...config }: EvmChainConfig): DeskChain {
	const { chainId, name, contracts, attesterSet, settlementToken, wrappedNative } = deployment;
	const assets = deployment.assets.map(
		({ symbol, address, decimals, kind, paths, feed, pythId }): DeskAsset => ({
			symbol,
			address,
			decimals,
			kind,
			paths,
			isFromInventory: config.assets[symbol]?.fromInventory ?? false,
			feed: feed && `${chainId}:${feed.address}`,
			pythId,
		}),
	);
	const native =
		assets.find(({ address }) => address === zeroAddress) ??
		assets.find(({ address }) => address === wrappedNative);
	// Gas is paid in the native token, so the chain cannot be quoted without its price.
	if (!native)
		throw new RangeError(`${name} lists neither its native token nor the wrapped one, so gas has no price`);
	return {
		...config,
		name,
		escrow: contracts.escrow,
		vault: contracts.vault,
		attesterSet: attesterSet.hash,
		settlementToken,
		assets,
		native,
		wrappedNative,
	};
}

function solanaDeskChain({ deployment, ...config }: SolanaChainConfig): DeskChain {
	const { name, program, settlementToken } = deployment;
	const assets = deployment.assets.map((asset) => solanaDeskAsset(asset, config));
	const native = assets.find(({ address }) => address === toSolanaWord(solanaNativeToken));
	if (!native) throw new RangeError(`${name} does not list its native token, so fees have no price`);
	return {
		...config,
		name,
		escrow: toSolanaWord(program.address),
		vault: toSolanaWord(program.vault),
		attesterSet: program.attesterSet.hash,
		settlementToken: toSolanaWord(settlementToken),
		assets,
		native,
		computePriceMicroLamports: BigInt(config.computePriceMicroLamports),
	};
}

/** Returns an asset without paths, since it is never bought in pools. */
function solanaDeskAsset(
	{ symbol, address, decimals, kind, feed, pythId }: SolanaAssetDeployment,
	{ assets }: Pick<SolanaChainConfig, "assets">,
): DeskAsset {
	return {
		symbol,
		decimals,
		kind,
		address: toSolanaWord(address),
		paths: [],
		isFromInventory: assets[symbol]?.fromInventory ?? false,
		feed: `${feed.chainId}:${feed.address}`,
		pythId,
	};
}
