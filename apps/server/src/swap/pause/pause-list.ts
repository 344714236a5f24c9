import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { type Pause, readPauses } from "./pauses.ts";

/** A cache of the open pauses, as they were a moment ago. Asking costs nothing. */
export type PauseList = {
	/** Returns why nothing is sold from or to the chain; undefined if it is not paused. */
	reasonOf(chainId: number): string | undefined;
	/** Returns undefined until the pauses were read once. */
	open(): readonly Pause[] | undefined;
	close(): Promise<void>;
};

const readEveryMs = 1_000;

/**
 * Reads the pauses once a second. While the database does not answer, the last result stands. Until the first result,
 * every chain counts as paused, since one may be.
 */
export async function createPauseList({
	db,
	everyMs = readEveryMs,
	onError = () => {},
}: {
	db: Database;
	everyMs?: Milliseconds;
	onError?: (error: unknown) => void;
}): Promise<PauseList> {
	let pauses: Pause[] | undefined;
	let reading: Promise<void> | undefined;
	async function read(): Promise<void> {
		try {
			pauses = await readPauses(db);
		} catch (error) {
			onError(error);
		}
	}
	await read();
	const timer = setInterval(() => {
		// One read at a time: a database that hangs is not asked again and again.
		reading ??= read().finally(() => {
			reading = undefined;
		});
	}, everyMs);
	return {
		reasonOf: (chainId) =>
			pauses
				? pauses.find((pause) => pause.chainId === chainId)?.reason
				: "it is not known yet whether the chain is paused",
		open: () => pauses,
		async close() {
			clearInterval(timer);
			await reading;
		},
	};
}
