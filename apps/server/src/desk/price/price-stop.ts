/** The reasons for which an asset is not quoted. */
export const stopReasons = [
	"prices-old",
	"sequencer-down",
	"sequencer-back",
	"reference-stale",
	"references-differ",
	"second-reference-missing",
	"pools-disagree",
] as const;
type StopReason = (typeof stopReasons)[number];

/**
 * Why an asset is not quoted. The token may be the settlement or native token, on which the asset's price depends.
 */
export type PriceStop = { reason: StopReason; symbol: string };

/** Returns the reason as a clause for logs, checks and refusals. */
export function describeStop({ reason, symbol }: PriceStop): string {
	switch (reason) {
		case "prices-old":
			return "the chain's prices are old";
		case "sequencer-down":
			return "the sequencer of the chain that its feed is on is down";
		case "sequencer-back":
			return "the sequencer of the chain that its feed is on was down until recently";
		case "reference-stale":
			return `the feed of ${symbol} is stale`;
		case "references-differ":
			return `two reference prices of ${symbol} differ`;
		case "second-reference-missing":
			return `the second reference price of ${symbol} is missing`;
		case "pools-disagree":
			return `the pools of ${symbol} are far from its feed`;
	}
}
