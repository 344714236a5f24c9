import type { Seconds } from "@geoswap/protocol";
import type { FeedAnswer } from "../../chain/evm/read/light-call.ts";

/** Extra seconds for a feed's round to be mined, because it is sent only at the heartbeat. */
const feedGraceSeconds = 120;

/** Returns true if the feed was updated within its heartbeat, by the clock of its own chain. */
export function isFeedFresh(
	feed: FeedAnswer | undefined,
	{ heartbeatSeconds, atUnixSeconds }: { heartbeatSeconds: Seconds; atUnixSeconds: Seconds },
): boolean {
	if (!feed || feed.usdE18 === 0n) return false;
	return atUnixSeconds - feed.updatedAtUnixSeconds <= heartbeatSeconds + feedGraceSeconds;
}
