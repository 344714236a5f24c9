import {
	isTerminal,
	type Milliseconds,
	type StatusResponse,
	SwapError,
	type SwapUuid,
} from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import {
	type EventHead,
	type EventRow,
	eventBody,
	readEventHead,
	readEventRows,
	readEventSwaps,
	type SwapEvent,
} from "../../swap/event/read-events.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import type { EventSink } from "../http/route.ts";
import { createKeyedLimiter } from "../status/keyed-limiter.ts";

/** The account, or the one swap of an account, whose events a stream sends. */
export type Followed = {
	accountId: string;
	/** The swap as it is now, if the stream is about one. */
	swap?: SwapRecord | undefined;
	/**
	 * The event after which the stream continues. By default a swap's events are sent from the first, an account's from
	 * now on.
	 */
	after: EventCursor | "beginning" | undefined;
};

export type EventFeed = {
	/** Sends events until the sink is gone or too slow, or the swap has ended. Returns a function that ends it earlier. */
	follow(followed: Followed, sink: EventSink): () => void;
	/** The number of streams. */
	size(): number;
	/** Ends all streams and stops reading. */
	close(): void;
};

type Stream = {
	sink: EventSink;
	/** The swap's id if the stream is about one, otherwise the account's. Both are UUIDs. */
	key: string;
	/** The stream itself reads events up to this position. The feed delivers later ones. */
	from: number;
	/** Events that arrived while the stream was reading earlier ones. Undefined once it has read those. */
	waiting: Told[] | undefined;
	isOver: boolean;
};

/** An event as it is sent. All streams get the same text. */
type Told = { position: number; text: string; ended: StatusResponse | undefined };

const pageSize = 500;
/** Events that may wait for a stream that is still reading earlier ones. It continues from its cursor. */
const maxWaiting = 1_000;
/** Milliseconds that a stream waits for its turn to read earlier events. */
const turnMs = 30_000;

/**
 * Creates the feed of a process. One loop reads new events and writes each as text once, regardless of the number of
 * streams. A stream that begins at an earlier event first reads up to the loop's position, then gets later events
 * from the loop.
 */
export function createEventFeed({
	db,
	statusOf,
	pollMs = 250,
	onError = () => {},
}: {
	db: Database;
	statusOf: (swap: SwapRecord) => StatusResponse;
	/** The maximum delay with which a published event is sent. */
	pollMs?: Milliseconds;
	onError?: (error: unknown) => void;
}): EventFeed {
	const streams = new Map<string, Set<Stream>>();
	let size = 0;
	/** The loop's position. Undefined while there is no stream. */
	let head: EventHead | undefined;
	let starting: Promise<EventHead> | undefined;
	let isPolling = false;
	let isClosed = false;
	const inTurn = createKeyedLimiter({ atOnce: 4, waitMs: turnMs, upstream: "database" });

	/** Returns the loop's position, and starts the loop if it is not running. */
	async function started(): Promise<EventHead> {
		if (head) return head;
		starting ??= readEventHead(db).finally(() => {
			starting = undefined;
		});
		const read = await starting;
		head ??= read;
		return head;
	}

	function add(stream: Stream): void {
		const ofKey = streams.get(stream.key);
		if (ofKey) ofKey.add(stream);
		else streams.set(stream.key, new Set([stream]));
	}

	function end(stream: Stream): void {
		if (stream.isOver) return;
		stream.isOver = true;
		stream.waiting = undefined;
		size -= 1;
		const ofKey = streams.get(stream.key);
		ofKey?.delete(stream);
		if (ofKey?.size === 0) streams.delete(stream.key);
		stream.sink.end();
	}

	function endAll(): void {
		for (const ofKey of [...streams.values()]) for (const stream of [...ofKey]) end(stream);
	}

	/** Sends an event, and ends the stream if it was the swap's last or the caller reads too slowly. */
	function tell(stream: Stream, { text, ended }: Told, isOfSwap: boolean): void {
		if (stream.isOver) return;
		if (!stream.sink.send(text)) end(stream);
		else if (ended && isOfSwap) sendEnd(stream, ended);
	}

	function sendEnd(stream: Stream, status: StatusResponse): void {
		stream.sink.send(`event: end\ndata: ${JSON.stringify(status)}\n\n`);
		end(stream);
	}

	function toldOf(event: SwapEvent, epoch: number): Told {
		const body = eventBody(event, { statusOf });
		const id = formatCursor({ epoch, position: event.position });
		return {
			position: event.position,
			text: `id: ${id}\ndata: ${JSON.stringify(body)}\n\n`,
			ended: isTerminal(event.swap.status) ? body.data : undefined,
		};
	}

	function dispatch(key: string, told: Told, isOfSwap: boolean): void {
		for (const stream of [...(streams.get(key) ?? [])]) {
			if (told.position <= stream.from) continue;
			if (!stream.waiting) tell(stream, told, isOfSwap);
			else if (stream.waiting.push(told) > maxWaiting) end(stream);
		}
	}

	const isFollowed = ({ account_id, swap_id }: EventRow) => streams.has(account_id) || streams.has(swap_id);

	async function poll(): Promise<void> {
		if (size === 0) head = undefined;
		if (!head) return;
		const now = await readEventHead(db);
		if (now.epoch !== head.epoch || now.position < head.position) {
			// The database was restored. Clients reconnect with cursors that predate the restore and are recognized as
			// such.
			head = undefined;
			return endAll();
		}
		while (head.position < now.position) {
			const rows = await readEventRows(db, { after: head.position, upTo: now.position, limit: pageSize });
			const followed = rows.filter(isFollowed);
			// Set before the next await, because a stream that begins from now on reads these events itself.
			head = { ...now, position: rows.at(-1)?.position ?? now.position };
			try {
				for (const event of await readEventSwaps(db, followed)) {
					const told = toldOf(event, now.epoch);
					dispatch(event.accountId, told, false);
					dispatch(event.swap.id, told, true);
				}
			} catch (error) {
				// The loop does not read these events again. Clients reconnect and read them.
				endAll();
				throw error;
			}
			if (rows.length < pageSize) head = { ...now, position: now.position };
		}
	}

	const timer = setInterval(() => {
		if (isPolling) return;
		isPolling = true;
		poll()
			.catch(onError)
			.finally(() => {
				isPolling = false;
			});
	}, pollMs);

	/** Sends a stream the stored events, then those that arrived meanwhile. */
	async function catchUp(stream: Stream, { accountId, swap, after }: Followed): Promise<void> {
		// The loop's head may be older than the last deletion, because it does not change while nothing is published.
		const pruned = typeof after === "object" ? (await readEventHead(db)).pruned : 0;
		const now = await started();
		if (stream.isOver) return;
		stream.from = now.position;
		add(stream);
		const swapId = swap?.id;
		const isOfSwap = swap !== undefined;
		const begin = beginningOf({ after, isOfSwap, head: { ...now, pruned } });
		if (begin.isReset) {
			const id = formatCursor({ epoch: now.epoch, position: begin.position });
			stream.sink.send(`id: ${id}\nevent: reset\ndata: {"reason":"${begin.reason}"}\n\n`);
		}
		await tellStored(stream, { accountId, swapId, begin: begin.position, now });
		const { waiting } = stream;
		stream.waiting = undefined;
		for (const told of waiting ?? []) tell(stream, told, isOfSwap);
		if (swap && isTerminal(swap.status) && !stream.isOver) sendEnd(stream, statusOf(swap));
	}

	async function tellStored(
		stream: Stream,
		{
			accountId,
			swapId,
			begin,
			now,
		}: { accountId: string; swapId: SwapUuid | undefined; begin: number; now: EventHead },
	): Promise<void> {
		for (let position = begin; position < now.position && !stream.isOver; ) {
			const page = { accountId, swapId, after: position, upTo: now.position, limit: pageSize };
			const { rows, events } = await inTurn(String(++turns), async () => {
				const rows = await readEventRows(db, page);
				return { rows, events: await readEventSwaps(db, rows) };
			});
			for (const event of events) tell(stream, toldOf(event, now.epoch), swapId !== undefined);
			position = rows.length < pageSize ? now.position : (rows.at(-1)?.position ?? now.position);
			// Waits for a slow client, since its events remain in the database.
			if (position < now.position) await stream.sink.drained();
		}
	}
	let turns = 0;

	return {
		size: () => size,
		follow(followed, sink) {
			const key = followed.swap?.id ?? followed.accountId;
			const stream: Stream = { sink, key, from: 0, waiting: [], isOver: false };
			size += 1;
			if (isClosed) end(stream);
			else {
				catchUp(stream, followed).catch((error: unknown) => {
					onError(error);
					end(stream);
				});
			}
			return () => end(stream);
		},
		close() {
			isClosed = true;
			clearInterval(timer);
			endAll();
		},
	};
}

/** Returns the position after which a stream begins, and the reason if events before it may be missing. */
function beginningOf({
	after,
	isOfSwap,
	head,
}: {
	after: Followed["after"];
	isOfSwap: boolean;
	head: EventHead;
}): { position: number } & ({ isReset: false } | { isReset: true; reason: "expired" | "restored" }) {
	const anew = isOfSwap ? 0 : head.position;
	if (after === undefined) return { position: anew, isReset: false };
	if (after === "beginning") return { position: 0, isReset: false };
	if (after.epoch !== head.epoch || after.position > head.position) {
		return { position: anew, isReset: true, reason: "restored" };
	}
	if (after.position < head.pruned) return { position: after.position, isReset: true, reason: "expired" };
	return { position: after.position, isReset: false };
}

/** A place in the events, as the `id` of a server-sent event has it. */
type EventCursor = {
	/** The number of times that the database was restored. */
	epoch: number;
	position: number;
};

function formatCursor({ epoch, position }: EventCursor): string {
	return `${epoch}-${position}`;
}

/** Reads the value of a `Last-Event-ID` header. `0` is the beginning. Throws INVALID_REQUEST for anything else. */
export function parseCursor(text: string): EventCursor | "beginning" {
	if (text === "0") return "beginning";
	const [, epoch, position] = /^(0|[1-9]\d{0,8})-(0|[1-9]\d{0,14})$/.exec(text) ?? [];
	if (epoch !== undefined && position !== undefined) {
		return { epoch: Number(epoch), position: Number(position) };
	}
	throw new SwapError("INVALID_REQUEST", {
		issues: [
			{
				path: "last-event-id",
				message:
					"is not the id of an event; send the id of the last event unchanged, 0 for the oldest, or no header",
			},
		],
	});
}
