import { setTimeout as sleep } from "node:timers/promises";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { type StalledWork, stalledWork } from "../measure/watch-stalls.ts";

const lookEveryMs = 250;
const answerWithinMs = 3_000;

/** The longest times in ms, during one kind of trouble. */
type Outage = {
	/** Time until a caller that repeats the same request gets an answer from the database. */
	callMs: number;
	/** Time until a due swap was handled, or a lane took a job that was ready. */
	workMs: number;
	/** Time without a new block of some chain in the database. */
	blockMs: number;
};

export type OutageWatch = {
	/** From now on, all outages are counted for this kind of trouble. */
	during: (kind: string) => void;
	stop: () => Promise<Record<string, Outage>>;
};

/**
 * Measures the effect of a trouble on callers and swaps. Times that began during an earlier trouble count for the later
 * one.
 */
export function watchOutages({ baseUrl, apiKey, databaseUrl }: Environment): OutageWatch {
	const worst: Record<string, Outage> = {};
	let kind = "none";
	let isOver = false;
	const note = (times: Partial<Outage>) => {
		const before = worst[kind] ?? { callMs: 0, workMs: 0, blockMs: 0 };
		worst[kind] = before;
		for (const [name, ms] of Object.entries(times) as [keyof Outage, number][]) {
			before[name] = Math.max(before[name], Math.round(ms));
		}
	};

	async function watchCalls(): Promise<void> {
		for (let since = performance.now(); !isOver; await sleep(lookEveryMs)) {
			if (await isAnswered()) {
				note({ callMs: performance.now() - since });
				since = performance.now() + lookEveryMs;
			}
		}
	}

	async function isAnswered(): Promise<boolean> {
		try {
			const response = await fetch(`${baseUrl}/swaps?limit=1`, {
				headers: { "x-api-key": apiKey },
				signal: AbortSignal.timeout(answerWithinMs),
			});
			await response.arrayBuffer();
			return response.ok;
		} catch {
			return false;
		}
	}

	async function watchWork(): Promise<void> {
		let database: DatabaseConnection | undefined;
		while (!isOver) {
			try {
				database ??= await connectDatabase(databaseUrl);
				const [work] = await database.query<StalledWork>(stalledWork);
				const [head] = await database.query<{ ms: string }>(
					"select extract(epoch from now() - min(updated_at)) * 1000 as ms from chain_heads",
				);
				note({ workMs: Math.max(Number(work?.swap_ms), Number(work?.job_ms)), blockMs: Number(head?.ms) });
			} catch {
				// The times continue meanwhile, and are read once the database is back.
				await database?.end().catch(() => {});
				database = undefined;
			}
			await sleep(lookEveryMs);
		}
		await database?.end();
	}

	const watching = [watchCalls(), watchWork()];
	return {
		during: (next) => {
			kind = next;
		},
		stop: async () => {
			isOver = true;
			await Promise.all(watching);
			return worst;
		},
	};
}
