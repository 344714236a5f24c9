import type { SwapUuid } from "@geoswap/protocol";
import pg from "pg";
import type { Database } from "./database.ts";

export type SwapListener = {
	/**
	 * Until the swap is terminal, the time is over, or the signal says so. It counts from the call itself: read the swap
	 * after calling it, or a change in between is missed.
	 */
	waitForTerminal(uuid: SwapUuid, timeoutMs: number, signal: AbortSignal): Promise<void>;
	close(): Promise<void>;
};

const rereadBatch = 1_000;

/**
 * One connection that hears which swaps became terminal, whatever the number of waiters. A notification can be lost
 * with its connection: what is waited for is read again every now and then, and after each reconnect.
 */
export function createSwapListener({
	url,
	db,
	rereadMs = 3_000,
	reconnectMs = 500,
	onError = () => {},
}: {
	url: string;
	db: Database;
	rereadMs?: number;
	reconnectMs?: number;
	onError?: (error: unknown) => void;
}): SwapListener {
	const waiters = new Map<SwapUuid, Set<() => void>>();
	let client: pg.Client | undefined;
	let reconnect: NodeJS.Timeout | undefined;
	let isClosed = false;
	let isRereading = false;

	function wake(uuid: SwapUuid): void {
		for (const stop of waiters.get(uuid) ?? []) stop();
	}

	async function reread(): Promise<void> {
		if (isRereading || isClosed) return;
		isRereading = true;
		try {
			const uuids = [...waiters.keys()];
			for (let i = 0; i < uuids.length; i += rereadBatch) {
				const { rows } = await db.query<{ id: SwapUuid }>(
					"select id from swaps where id = any($1::uuid[]) and status <> 'pending'",
					[uuids.slice(i, i + rereadBatch)],
				);
				for (const row of rows) wake(row.id);
			}
		} catch (error) {
			onError(error);
		} finally {
			isRereading = false;
		}
	}

	async function listen(): Promise<void> {
		const next = new pg.Client({
			connectionString: url,
			application_name: "geoswap swap listener",
			keepAlive: true,
		});
		client = next;
		let isLost = false;
		const lost = (error?: unknown) => {
			if (isLost || isClosed) return;
			isLost = true;
			if (error) onError(error);
			next.end().catch(() => {});
			reconnect = setTimeout(() => void listen(), reconnectMs);
		};
		next.on("error", lost);
		next.on("end", () => lost());
		next.on("notification", ({ payload }) => payload && wake(payload));
		try {
			await next.connect();
			await next.query("listen swap_terminal");
			await reread();
		} catch (error) {
			lost(error);
		}
	}

	const timer = setInterval(() => void reread(), rereadMs);
	void listen();

	return {
		waitForTerminal: (uuid, timeoutMs, signal) =>
			new Promise((resolve) => {
				if (signal.aborted || isClosed) return resolve();
				const ofSwap = waiters.get(uuid) ?? new Set();
				waiters.set(uuid, ofSwap);
				const stop = () => {
					clearTimeout(timeout);
					signal.removeEventListener("abort", stop);
					ofSwap.delete(stop);
					if (ofSwap.size === 0 && waiters.get(uuid) === ofSwap) waiters.delete(uuid);
					resolve();
				};
				const timeout = setTimeout(stop, timeoutMs);
				signal.addEventListener("abort", stop, { once: true });
				ofSwap.add(stop);
			}),
		async close() {
			isClosed = true;
			clearInterval(timer);
			clearTimeout(reconnect);
			for (const uuid of [...waiters.keys()]) wake(uuid);
			await client?.end().catch(() => {});
		},
	};
}
