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
export type DeskAsset = Pick<AssetDeployment, "symbol" | "decimals" | "kind" | "paths"> & { address: Hex };

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
	const { name, contracts, attesterSet, settlementToken, assets, wrappedNative } = deployment;
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
	const assets = deployment.assets.map(solanaDeskAsset);
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
function solanaDeskAsset({ symbol, address, decimals, kind }: SolanaAssetDeployment): DeskAsset {
	return { symbol, decimals, kind, address: toSolanaWord(address), paths: [] };
}
