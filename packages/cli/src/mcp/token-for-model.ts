import type { ChainEntry, Deployment, TokenEntry } from "@geoswap/protocol";
import * as z from "zod";
import { differences } from "../commands/chains.ts";
import { assetAt, pinnedChains } from "../pinned-assets.ts";

/** Marks a name or a symbol that is the service's own. */
export const unverified = z
	.literal(true)
	.optional()
	.describe("The name is the service's own claim, because the deployment file does not have it.");

const longestName = 32;
const longestAddress = 64;

/** Returns a chain with its pinned name, and without the service's words about what differs. */
export function chainForModel(pins: Deployment, chain: ChainEntry) {
	const pinned = pinnedChains(pins).find(({ chainId }) => chainId === chain.chainId);
	return {
		...chain,
		name: pinned?.name ?? claimed(chain.name, longestName),
		unverified: pinned ? undefined : true,
		differs: differences(pins, chain, ({ field, pinned: value }) => `${field} is not ${value}`),
	};
}

/** Returns a token with its pinned symbol, address and decimals. */
export function tokenForModel(pins: Deployment, token: TokenEntry) {
	const pinned = assetAt(pins, { chainId: token.chainId, token: token.address });
	return {
		...token,
		symbol: pinned?.symbol ?? claimed(token.symbol, longestName),
		unverified: pinned ? undefined : true,
		address: pinned?.address ?? claimed(token.address, longestAddress),
		decimals: pinned?.decimals ?? token.decimals,
	};
}

/** Returns the service's text on one line, without control characters, and cut. */
function claimed(text: unknown, longest: number): string {
	return String(text)
		.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
		.slice(0, longest)
		.trim();
}
