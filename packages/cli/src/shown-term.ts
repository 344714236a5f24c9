import type { Deployment } from "@geoswap/protocol";
import { showNative } from "./cost-lines.ts";
import { wholeTokens } from "./format-amount.ts";
import type { Intent } from "./intents.ts";
import { assetAt, pinnedChains } from "./pinned-assets.ts";

/**
 * Returns a term of an intent for people, or undefined if it has none. Amounts are in whole tokens, and chains and tokens
 * by name, as far as the deployment file has them.
 */
export function shownTerm(
	pins: Deployment | undefined,
	terms: Partial<Intent>,
	field: keyof Intent,
): string | undefined {
	const value = terms[field];
	if (value === undefined) return undefined;
	const text = String(value);
	const { originChain = 0, destinationChain = 0, inputToken = "", outputToken = "" } = terms;
	const isOfOutput = field === "minOutput" || field === "outputAmount" || field === "outputToken";
	const [chainId, token] = isOfOutput ? [destinationChain, outputToken] : [originChain, inputToken];
	const asset = pins && assetAt(pins, { chainId, token });
	switch (field) {
		case "amount":
		case "minOutput":
		case "outputAmount":
			return asset && /^\d+$/.test(text) ? wholeTokens(text, asset) : text;
		case "inputToken":
		case "outputToken":
			return asset ? `${asset.symbol} (${asset.address})` : text;
		case "originChain":
		case "destinationChain":
			return (pins && pinnedChains(pins).find((chain) => chain.chainId === value)?.name) ?? text;
		case "topUp": {
			const chain = pins && pinnedChains(pins).find((one) => one.chainId === destinationChain);
			return chain && /^\d+$/.test(text) ? showNative(chain, BigInt(text)) : text;
		}
		case "topUpUsd":
			return `${text} USD`;
		default:
			return text;
	}
}
