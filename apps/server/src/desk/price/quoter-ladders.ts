import type { Milliseconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { Rung } from "../../chain/evm/read/read-block-prices.ts";
import type { SolanaTerms } from "../../config/chain-terms.ts";

export type Direction = "buy" | "sell";

/** A quoter's last answers for Solana's assets, in memory, so that a quote never waits for the quoter. */
export type QuoterLadders = {
	/** Takes over a ladder. Its age counts from the request for its first size. */
	update: (asset: Address, direction: Direction, ladder: { rungs: Rung[]; askedAtMs: Milliseconds }) => void;
	/** Returns the rungs, by ascending size, or undefined if they are too old or were never requested. */
	rungsOf: (asset: Address, direction: Direction) => readonly Rung[] | undefined;
	/** The charge below what the quoter pays, by kind of asset. */
	marginBps: Record<"stable" | "volatile", number>;
	/** The difference from the feed at which an asset is stopped. */
	deviationBps: number;
};

export function createQuoterLadders(
	{
		maxAgeSeconds,
		marginBps,
		deviationBps,
	}: Pick<NonNullable<SolanaTerms["quoter"]>, "maxAgeSeconds" | "marginBps" | "deviationBps">,
	{ nowMs }: { nowMs: () => Milliseconds },
): QuoterLadders {
	const ladders = new Map<string, { rungs: Rung[]; askedAtMs: Milliseconds }>();
	return {
		update: (asset, direction, ladder) => {
			ladders.set(`${asset} ${direction}`, ladder);
		},
		rungsOf: (asset, direction) => {
			const ladder = ladders.get(`${asset} ${direction}`);
			const isFresh = ladder !== undefined && nowMs() - ladder.askedAtMs <= maxAgeSeconds * 1_000;
			return isFresh ? ladder.rungs : undefined;
		},
		marginBps,
		deviationBps,
	};
}
