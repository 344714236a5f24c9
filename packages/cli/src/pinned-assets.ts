import { type Deployment, isSolana, solanaNativeToken } from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { CliError } from "./cli-error.ts";

export type PinnedAsset = {
	symbol: string;
	address: string;
	decimals: number;
	isNative: boolean;
};
export type PinnedChain = { chainId: number; name: string; kind: "evm" | "solana"; assets: PinnedAsset[] };
export type Asset = PinnedAsset & { chain: PinnedChain };

/**
 * Returns chains and tokens from the deployment file. The address and the decimals of a symbol decide what is paid, so
 * they are not requested from the service.
 */
export function pinnedChains({ chains, solana }: Deployment): PinnedChain[] {
	return [...chains, ...(solana ? [solana] : [])].map(({ chainId, name, assets }) => ({
		chainId,
		name,
		kind: isSolana(chainId) ? "solana" : "evm",
		assets: assets.map(({ symbol, address, decimals }) => ({
			symbol,
			address,
			decimals,
			isNative: address === zeroAddress || address === solanaNativeToken,
		})),
	}));
}

export function nativeOf({ assets }: PinnedChain): PinnedAsset | undefined {
	return assets.find(({ isNative }) => isNative);
}

/** Finds a chain by its id, or by its name in any case, with dashes for spaces. */
export function findChain(pins: Deployment, text: string): PinnedChain {
	const chains = pinnedChains(pins);
	const found = chains.filter(
		({ chainId, name }) => String(chainId) === text || simplified(name) === simplified(text),
	);
	const [chain] = found;
	if (chain && found.length === 1) return chain;
	const listed = chains.map(({ chainId, name }) => `${simplified(name)} (${chainId})`).join(", ");
	throw new CliError(
		chain
			? `"${text}" names several chains. Write an id: ${listed}.`
			: `The deployment file has no chain "${text}" that this version can read. It has: ${listed}.`,
		{
			code: "UNKNOWN_CHAIN",
			section: "chains-and-tokens",
			details: { chains: chains.map(({ chainId }) => chainId) },
		},
	);
}

/** Finds the asset of `<chain>:<token>`, a token by its symbol or address. Never returns another asset instead. */
export function findAsset(pins: Deployment, option: string, text: string): Asset {
	// A chain's name may have a colon, a token's address has none.
	const colon = text.lastIndexOf(":");
	if (colon <= 0 || colon === text.length - 1) {
		throw new CliError(
			`${option} must be <chain>:<token>, such as base:USDC or 8453:0x8335…, not "${text}".`,
			{
				code: "USAGE",
				section: "chains-and-tokens",
			},
		);
	}
	const chain = findChain(pins, text.slice(0, colon));
	return { ...findToken(chain, text.slice(colon + 1)), chain };
}

function findToken({ chainId, name, assets }: PinnedChain, text: string): PinnedAsset {
	const byAddress = assets.find(({ address }) => isSameAddress(chainId, address, text));
	if (byAddress) return byAddress;
	const exact = assets.filter(({ symbol }) => symbol === text);
	const alike = assets.filter(({ symbol }) => symbol.toLowerCase() === text.toLowerCase());
	const found = exact.length > 0 ? exact : alike;
	const [token] = found;
	if (token && found.length === 1) return token;
	const listed = assets.map(({ symbol, address }) => `${symbol} (${address})`).join(", ");
	throw new CliError(
		token
			? `"${text}" names several tokens on ${name}. Write it exactly, or its address: ${listed}.`
			: `${name} has no token "${text}" in the deployment file. It has: ${listed}.`,
		{
			code: "UNKNOWN_TOKEN",
			section: "chains-and-tokens",
			details: { chainId, tokens: assets.map(({ symbol, address }) => ({ symbol, address })) },
		},
	);
}

/** Returns the asset at an address, or undefined if the deployment file does not have it. */
export function assetAt(
	pins: Deployment,
	{ chainId, token }: { chainId: number; token: string },
): Asset | undefined {
	const chain = pinnedChains(pins).find((one) => one.chainId === chainId);
	const asset = chain?.assets.find(({ address }) => isSameAddress(chainId, address, String(token)));
	return chain && asset && { ...asset, chain };
}

/** Compares two addresses. Hex is the same in any case; base58 is not. */
export function isSameAddress(chainId: number, a: string, b: string): boolean {
	return isSolana(chainId) ? a === b : a.toLowerCase() === b.toLowerCase();
}

export function simplified(name: string): string {
	return name
		.trim()
		.toLowerCase()
		.replace(/[\s_-]+/g, "-");
}
