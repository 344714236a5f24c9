import type { FastifyReply } from "fastify";
import type { EventSink, EventStream } from "./route.ts";

/**
 * Bytes that a client may leave unread. A slower client is disconnected, reconnects, and continues from its last
 * event.
 */
const maxUnreadBytes = 256 * 1024;
/**
 * Clients that lost their stream reconnect after a random delay in this range, so that they do not all come together.
 */
const retryMs = { least: 1_000, most: 5_000 };

/** Sends the headers of a stream, then starts it. The reply's own headers must be set. */
export function answerWithStream(
	reply: FastifyReply,
	stream: EventStream,
	{ random }: { random: () => number },
): void {
	const { sse, raw } = reply;
	sse.keepAlive();
	sse.sendHeaders();
	const sink: EventSink = {
		send(text) {
			if (!sse.isConnected || raw.writableLength > maxUnreadBytes) return false;
			raw.write(text);
			return true;
		},
		drained: () =>
			new Promise((resolve) => {
				if (!sse.isConnected || !raw.writableNeedDrain) return resolve();
				const over = () => {
					raw.off("drain", over);
					raw.off("close", over);
					resolve();
				};
				raw.on("drain", over);
				raw.on("close", over);
			}),
		end: () => sse.close(),
	};
	const pauseMs = Math.round(retryMs.least + random() * (retryMs.most - retryMs.least));
	// Sent immediately, so that proxies pass the headers on.
	sink.send(`retry: ${pauseMs}\n\n`);
	stream(sink);
}
