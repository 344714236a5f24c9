import type { ChainNames } from "../../config/chain-names.ts";
import { type Pause, readPauses } from "../../swap/pause/pauses.ts";
import { chainPaces } from "../../swap/record/stuck-swaps.ts";
import { createUnendedCounts, type UnendedCount } from "../../watch/count-unended.ts";
import { readVitals, type Vitals } from "../../watch/read-vitals.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { cacheFor } from "./cache-for.ts";
import { findProblems, type Problem } from "./find-problems.ts";
import { readToday, type Today } from "./read-today.ts";
import { countRecent, readTraffic, type Traffic } from "./read-traffic.ts";
import type { WorkerMetrics } from "./worker-metrics.ts";

export type Overview = {
	problems: Problem[];
	pauses: Pause[];
	unended: UnendedCount[];
	vitals: Vitals;
	metrics: WorkerMetrics;
	today: Today;
	traffic: Traffic[];
	/** Swaps that were submitted in the last five minutes. */
	recent: number;
};

/** Figures over a whole day cost more than the others, and change little in this time. */
const dayMaxAgeMs = 15_000;
/** Several operators, or tabs, share one reading. */
const maxAgeMs = 1_000;

/** Returns a function that reads the service's state for its first page. */
export function createOverview(
	{ pool, config, readMetrics, nowMs }: Pick<ConsoleParts, "pool" | "config" | "readMetrics" | "nowMs">,
	chainNames: ChainNames,
): () => Promise<Overview> {
	const unendedCounts = createUnendedCounts({ db: pool, paces: chainPaces(config) });
	const readDay = cacheFor(
		async () => ({
			traffic: await readTraffic(pool, { nowMs: nowMs() }),
			today: await readToday(pool, { nowMs: nowMs() }),
		}),
		{ maxAgeMs: dayMaxAgeMs, nowMs },
	);
	return cacheFor(
		async () => {
			const at = nowMs();
			const [pauses, unended, vitals, metrics, { traffic, today }, recent] = await Promise.all([
				readPauses(pool),
				unendedCounts.read({ nowMs: at }),
				readVitals(pool, { nowMs: at }),
				readMetrics(),
				readDay(),
				countRecent(pool, { minutes: 5, nowMs: at }),
			]);
			const problems = findProblems({
				config,
				chainNames,
				pauses,
				unended,
				vitals,
				metrics,
				today,
				nowMs: at,
			});
			return { problems, pauses, unended, vitals, metrics, today, traffic, recent };
		},
		{ maxAgeMs, nowMs },
	);
}
