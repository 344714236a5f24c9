import { type Deployment, isSolana, mulDivUp, type QuoteRequestBody, rescaleUp } from "@geoswap/protocol";
import { parseUnits } from "viem";
import { refuse } from "./expect-same.ts";

/** The maximum number of decimals of an asset in a deployment file. */
const maxDecimals = 36;
/** The fee and spread between two stables cost a fraction of the remaining 3 %. */
const minStableBps = 9_700n;

/**
 * Returns the minimum output of a swap between two stables that is signed without the caller's approval, which is 97 %
 * of the input less a top-up in USD, in the smallest unit of the output. Undefined if the pins do not list both tokens
 * as stables, or if the value of a top-up is not known, because no price is then known to be absurd.
 */
export function stableFloor(
	pins: Deployment,
	intent: Pick<
		QuoteRequestBody,
		"originChain" | "destinationChain" | "inputToken" | "outputToken" | "topUp" | "topUpUsd"
	> & { amount: bigint | string | number },
): bigint | undefined {
	const input = pinnedAsset(pins, Number(intent.originChain), intent.inputToken);
	const output = pinnedAsset(pins, Number(intent.destinationChain), intent.outputToken);
	if (input?.kind !== "stable" || output?.kind !== "stable") return undefined;
	if (intent.topUp !== undefined) return undefined;
	const given = rescaleUp(BigInt(intent.amount), input.decimals, output.decimals);
	const swapped = given - parseUnits(intent.topUpUsd ?? "0", output.decimals);
	return swapped > 0n ? mulDivUp(swapped, minStableBps, 10_000n) : undefined;
}

/** Returns a token of the pins, which is found in any case of hex. Throws if its decimals are absurd. */
export function pinnedAsset({ chains, solana }: Deployment, chainId: number, token: string) {
	// Hex is the same in any case; base58 is not.
	const spelled = (address: string) => (isSolana(chainId) ? address : address.toLowerCase());
	const chain = solana?.chainId === chainId ? solana : chains.find((other) => other.chainId === chainId);
	const asset = chain?.assets.find(({ address }) => spelled(address) === spelled(token));
	// The pins may not have been parsed by their schema, and a power of ten with a huge exponent would never be computed.
	if (asset && !(Number.isInteger(asset.decimals) && asset.decimals >= 0 && asset.decimals <= maxDecimals))
		refuse(`pins.${chainId}.assets (${asset.symbol}).decimals`, `0 to ${maxDecimals}`, asset.decimals);
	return asset;
}
