import { SwapError } from "@geoswap/protocol";
import type { EventStream, PublicRequest } from "../http/route.ts";
import type { HeldCalls } from "../key/held-calls.ts";
import type { EventFeed, Followed } from "./create-event-feed.ts";

/**
 * How long a stream lasts, before a random part of a tenth is taken off. Its caller then comes again: with a key that
 * may have been revoked, and through a balancer that may know more processes by now.
 */
const maxSeconds = 900;
/** Seconds after which a caller that has too many streams may try again. */
const retryAfterSeconds = 5;

export type StreamParts = {
	feed: EventFeed;
	/** Counts the streams of each holder, over all processes. */
	heldStreams: HeldCalls;
	limits: { perKey: number; perProcess: number };
	/** Returns a number from 0 to 1. */
	random: () => number;
};

/** Returns the body of a stream. Throws if its holder, or this process, has as many as it may. */
export async function openStream(
	request: Pick<PublicRequest, "onGone">,
	{
		heldBy,
		...followed
	}: Followed & {
		/** The API key whose stream it is, or whatever else streams are counted for. */
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
