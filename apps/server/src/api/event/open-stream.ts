import { SwapError } from "@geoswap/protocol";
import type { EventStream, PublicRequest } from "../http/route.ts";
import type { HeldCalls } from "../key/held-calls.ts";
import type { EventFeed, Followed } from "./create-event-feed.ts";

/**
 * The maximum lifetime of a stream, before up to 10 % of jitter is taken off. The client then reconnects, so that its
 * key is checked again and a load balancer can choose among all current processes.
 */
const maxSeconds = 900;
/** Seconds after which a client that has too many streams may try again. */
const retryAfterSeconds = 5;

export type StreamParts = {
	feed: EventFeed;
	/** Counts the streams of each holder, over all processes. */
	heldStreams: HeldCalls;
	limits: { perKey: number; perProcess: number };
	/** Returns a number from 0 to 1. */
	random: () => number;
};

/** Returns the body of a stream. Throws if its holder, or this process, has the maximum number of streams. */
export async function openStream(
	request: Pick<PublicRequest, "onGone">,
	{
		heldBy,
		...followed
	}: Followed & {
		/** The API key whose stream it is, or another name under which streams are counted. */
		heldBy: string;
	},
	{ feed, heldStreams, limits, random }: StreamParts,
): Promise<EventStream> {
	if (feed.size() >= limits.perProcess) throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: "streams" });
	const seconds = Math.round(maxSeconds * (1 - random() / 10));
	const release = await heldStreams.take(heldBy, { limit: limits.perKey, seconds });
	if (!release) throw new SwapError("RATE_LIMITED", { reason: "event_streams", retryAfterSeconds });
	return (sink) => {
		let timer: NodeJS.Timeout | undefined;
		const end = feed.follow(followed, {
			send: (text) => sink.send(text),
			drained: () => sink.drained(),
			end() {
				clearTimeout(timer);
				release();
				sink.end();
			},
		});
		timer = setTimeout(end, seconds * 1_000);
		request.onGone(end);
	};
}
