import type { FeedAnswer } from "../../chain/evm/read/read-block-prices.ts";

/** A feed's round is sent at its heartbeat, and then has to be mined. */
const feedGraceSeconds = 120;

/** Whether the feed gave a price within its heartbeat, by the clock of the chain that it is on. */
export function isFeedFresh(
	feed: FeedAnswer | undefined,
	{ heartbeatSeconds, atUnixSeconds }: { heartbeatSeconds: number; atUnixSeconds: number },
): boolean {
	if (!feed || feed.usdE18 === 0n) return false;
	return atUnixSeconds - feed.updatedAtUnixSeconds <= heartbeatSeconds + feedGraceSeconds;
}
