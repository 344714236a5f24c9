import type { SwapEventBody } from "@geoswap/protocol";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { type Answer, answerOf } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { errorOf } from "./request.ts";
import { sendAgain } from "./send-again.ts";
import { sleep } from "./sleep.ts";

export type {
	RemovedWebhook,
	RotatedWebhook,
	SwapEventBody,
	WebhookResponse,
	WebhooksResponse,
} from "@geoswap/protocol";
export { addWebhook, listWebhooks, removeWebhook, rotateWebhook } from "./webhooks.ts";

/** An event, or a notice that earlier events may be missing. After the notice, read your swaps. */
export type StreamedEvent = {
	/** The event's position in the stream. Store it with the event's results, to continue there after a restart. */
	cursor: string;
} & (
	| { kind: "event"; event: Answer<SwapEventBody> }
	/** `expired`: the missing events are too old. `restored`: the database was set back. */
	| { kind: "reset"; reason: "expired" | "restored" | (string & {}) }
);

/** Milliseconds without a byte after which the connection counts as lost. The service sends one every ten seconds. */
const silentMs = 35_000;
/** Pause before the stream is opened again, if the service sets none. */
const defaultRetryMs = 2_000;

/**
 * Yields the events of the account's swaps, or of one swap until it has ended. A broken stream is opened again at its
 * last position, without limit, so no event is missed and none is yielded twice. Ends by the signal, or with an error
 * that waiting cannot fix.
 */
export async function* streamEvents(
	client: Client,
	{
		swapId,
		after,
		signal,
	}: {
		/** The swap to follow. All swaps of the account by default. */
		swapId?: string;
		/** The cursor after which to begin. `0` begins with the oldest stored event. */
		after?: string;
		signal?: AbortSignal;
	} = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
	const path = swapId === undefined ? "/events" : `/swaps/${encodeURIComponent(swapId)}/events`;
	let cursor = after;
	let retryMs = defaultRetryMs;
	for (;;) {
		const silence = silenceSignal();
		const both = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
		try {
			const body = await sendAgain(() => open(client, { path, cursor, signal: both }), {
				patienceMs: Number.POSITIVE_INFINITY,
				signal,
			});
			const parser = new EventSourceParserStream({
				onRetry: (ms) => {
					retryMs = ms;
				},
			});
			const messages = body
				.pipeThrough(silence.heard)
				.pipeThrough(new TextDecoderStream())
				.pipeThrough(parser);
			for await (const message of messages) {
				if (message.event === "end") return;
				if (message.id === undefined) continue;
				cursor = message.id;
				if (message.event === "reset") yield { kind: "reset", cursor, reason: reasonOf(message.data) };
				else if (message.event === undefined) {
					yield { kind: "event", cursor, event: answerOf(JSON.parse(message.data) as SwapEventBody) };
				}
			}
		} catch (error) {
			signal?.throwIfAborted();
			if (error instanceof GeoswapError && !error.retryable) throw error;
		} finally {
			silence.end();
		}
		await sleep(retryMs, signal);
	}
}

function reasonOf(data: string): string {
	try {
		return String(JSON.parse(data).reason);
	} catch {
		return "unknown";
	}
}

async function open(
	client: Client,
	{ path, cursor, signal }: { path: string; cursor: string | undefined; signal: AbortSignal },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
	// A browser's `fetch` throws if it is called as a method.
	const { fetch } = client;
	let response: Response;
	try {
		response = await fetch(client.baseUrl + path, {
			headers: {
				accept: "text/event-stream",
				"x-api-key": client.apiKey,
				...(cursor !== undefined && { "last-event-id": cursor }),
			},
			signal,
			// A redirect would send the key to another server.
			redirect: "error",
		});
	} catch (cause) {
		throw new GeoswapError(`${client.baseUrl} does not answer. Open the stream again.`, {
			code: "UNREACHABLE",
			next: "retry",
			retryable: true,
			docs: docsUrl(client),
			cause,
		});
	}
	const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
	if (response.ok && isStream && response.body) return response.body;
	const answer: unknown = await response.json().catch(() => undefined);
	throw errorOf(client, response, typeof answer === "object" && answer !== null ? answer : undefined);
}

/** Returns a signal that aborts if no byte arrives for too long. */
function silenceSignal(): {
	signal: AbortSignal;
	heard: TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
	end: () => void;
} {
	const silent = new AbortController();
	const startTimer = () => setTimeout(() => silent.abort(), silentMs);
	let timer = startTimer();
	return {
		signal: silent.signal,
		heard: new TransformStream({
			transform(chunk, controller) {
				clearTimeout(timer);
				timer = startTimer();
				controller.enqueue(chunk);
			},
		}),
		end() {
			clearTimeout(timer);
			// Frees the connection if the caller has left the loop.
			silent.abort();
		},
	};
}
