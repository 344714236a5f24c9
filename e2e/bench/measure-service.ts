import type { OwnEnvironment } from "../environment/environment.ts";
import { percentile } from "../measure/percentile.ts";
import { type BenchRow, benchRow } from "./bench-row.ts";
import { measureHeld } from "./measure-held.ts";
import { addPending, idleRows, measureIdle } from "./measure-idle.ts";
import { measureQuotes } from "./measure-quotes.ts";
import { measureArrivals, measureCosts, type StatementRow } from "./measure-swaps.ts";
import { runLoad } from "./run-load.ts";
import { amountOfDepth, startBench } from "./start-bench.ts";

export type BenchSize = {
	quoteMs: number;
	held: number;
	builds: number;
	idleMs: number;
	/** Runs whose costs are counted, with the number of swaps in flight in each. */
	together: { inFlight: number; count: number }[];
	/** Arrival rate, depth and duration of each run. */
	arrivals: { perSecond: number; depth: 0 | 1; seconds: number }[];
	/** Numbers of pending swaps while nothing happens. */
	pending: number[];
};

/** The parts that can be measured alone; the idle costs are always measured. */
export const benchParts = ["held", "quotes", "builds", "costs", "arrivals", "pending"] as const;

/** Starts everything that is measured, measures it, and stops it. */
export async function measureService(
	size: BenchSize,
	{ parts, say }: { parts: readonly string[]; say: (line: string) => void },
): Promise<{ rows: BenchRow[]; statements: StatementRow[] }> {
	say("starting the service");
	const bench = await startBench(say);
	const { environment } = bench;
	try {
		const rows: BenchRow[] = [];
		let statements: StatementRow[] = [];
		if (parts.includes("held")) {
			say("held status calls");
			rows.push(...(await measureHeld(bench, size.held)));
		}
		if (parts.includes("quotes")) {
			say("quotes");
			rows.push(...(await measureQuotes(bench, size.quoteMs)));
		}
		if (parts.includes("builds")) {
			say(`${size.builds} concurrent builds`);
			rows.push(...(await measureBuilds(environment, size.builds)));
		}
		say("nothing");
		const idle = await measureIdle(bench, size.idleMs);
		rows.push(...idleRows("no swaps", idle));
		for (const { inFlight, count } of parts.includes("costs") ? size.together : []) {
			say(`${count} swaps, ${inFlight} in flight`);
			const measured = await measureCosts(bench, { phase: { pace: { inFlight }, count, depth: 1 }, idle });
			rows.push(...measured.rows);
			statements = measured.statements;
		}
		for (const { perSecond, depth, seconds } of parts.includes("arrivals") ? size.arrivals : []) {
			say(`${perSecond} swaps a second, depth ${depth}`);
			const count = perSecond * seconds;
			rows.push(...(await measureArrivals(bench, { pace: { perSecond }, count, depth })));
		}
		for (const count of parts.includes("pending") ? size.pending : []) {
			say(`${count} swaps that wait`);
			await addPending(bench, count);
			rows.push(...idleRows(`${count} pending swaps`, await measureIdle(bench, 3 * size.idleMs)));
		}
		return { rows, statements };
	} finally {
		await bench.stop();
	}
}

async function measureBuilds(environment: OwnEnvironment, count: number): Promise<BenchRow[]> {
	const { statuses, tookMs } = await runLoad({
		kind: "builds",
		environment: environment.address,
		count,
		amount: String(amountOfDepth[1]),
	});
	const row = benchRow(`${count} concurrent builds`);
	return [
		...Object.entries(statuses).map(([status, service]) => row(`answered ${status}`, "", service)),
		...[50, 100].map((percent) => row(`until the answer, p${percent}`, "ms", percentile(tookMs, percent))),
	];
}
