import type { Amount } from "@geoswap/protocol";

const bps = 10_000n;

/**
 * Returns how far a venue's price is from the feeds', given a small sale and a small purchase, or undefined if the
 * feeds have no price. The venue's fee lowers both outputs, so half their difference is the deviation of the price.
 */
export function priceDeviationBps({
	sold,
	bought,
	soldByFeeds,
	boughtByFeeds,
}: {
	sold: { output: Amount };
	bought: { output: Amount };
	soldByFeeds: Amount;
	boughtByFeeds: Amount;
}): number | undefined {
	if (soldByFeeds === 0n || boughtByFeeds === 0n) return undefined;
	const apart = (sold.output * bps) / soldByFeeds - (bought.output * bps) / boughtByFeeds;
	return Math.abs(Number(apart)) / 2;
}
