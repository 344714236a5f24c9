import type { Milliseconds, SwapUuid } from "@geoswap/protocol";
import pg from "pg";
import type { Database } from "../../database/database.ts";

export type SwapListener = {
	/**
	 * Waits for the swap to become terminal, from the moment of the call. Read the swap after the call, or a change in
	 * between is missed.
	 */
	waitForTerminal(uuid: SwapUuid, timeoutMs: Milliseconds): TerminalWait;
	close(): Promise<void>;
};

/** A wait for one swap. Thousands are in flight, mostly one per swap, so each is only one promise and one timer. */
type TerminalWait = {
	/** Resolves when the swap is terminal, the timeout has passed, or the wait was ended. */
	over: Promise<void>;
	end: () => void;
};

const rereadBatch = 1_000;

/**
 * Listens on one connection for swaps that became terminal, regardless of the number of waits. A notification can be
 * lost with its connection, so swaps with waits are read again periodically, and after each reconnect.
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
	rereadMs?: Milliseconds;
	reconnectMs?: Milliseconds;
	onError?: (error: unknown) => void;
}): SwapListener {
	const waits = new Map<SwapUuid, TerminalWait[]>();
	let client: pg.Client | undefined;
	let reconnect: NodeJS.Timeout | undefined;
	let isClosed = false;
	let isRereading = false;

	function wake(uuid: SwapUuid): void {
		for (const { end } of [...(waits.get(uuid) ?? [])]) end();
	}

	function forget(uuid: SwapUuid, wait: TerminalWait): void {
		const ofSwap = waits.get(uuid);
		const i = ofSwap?.indexOf(wait) ?? -1;
		if (!ofSwap || i === -1) return;
		if (ofSwap.length === 1) waits.delete(uuid);
		else ofSwap.splice(i, 1);
	}

	async function reread(): Promise<void> {
		if (isRereading || isClosed) return;
		isRereading = true;
		try {
			const uuids = [...waits.keys()];
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
		next.on("notification", ({ payload }) => payload && wake(payload as SwapUuid));
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
		waitForTerminal(uuid, timeoutMs) {
			const { promise: over, resolve } = Promise.withResolvers<void>();
			if (isClosed) resolve();
			const end = () => {
				clearTimeout(timeout);
				forget(uuid, wait);
				resolve();
			};
			const timeout = setTimeout(end, isClosed ? 0 : timeoutMs);
			const wait: TerminalWait = { over, end };
			const others = waits.get(uuid);
			if (others) others.push(wait);
			else waits.set(uuid, [wait]);
			return wait;
		},
		async close() {
			isClosed = true;
			clearInterval(timer);
			clearTimeout(reconnect);
			for (const uuid of [...waits.keys()]) wake(uuid);
			await client?.end().catch(() => {});
		},
	};
}
