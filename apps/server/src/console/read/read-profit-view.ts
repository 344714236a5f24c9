import type { Milliseconds } from "@geoswap/protocol";
import type { ChainNames } from "../../config/chain-names.ts";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import {
	groupSwaps,
	type Range,
	type Report,
	readReport,
	type SwapSums,
	sumOf,
} from "../../operate/report/read-report.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { cacheFor } from "./cache-for.ts";

/** A report without its swaps, which can be many. */
export type ReportView = Omit<Report, "profits" | "swaps"> & {
	sums: SwapSums;
	byPair: SwapSums[];
	byRoute: SwapSums[];
};

export type ProfitView = {
	/** The last day that is closed on any chain. Undefined before the first. */
	last: ReportView | undefined;
	today: ReportView;
	days: DaySums[];
};

/** The books of all chains for a day. Values are integers of 10^-36 USD. */
export type DaySums = { day: string; chains: number; flows36: bigint; positions36: bigint };

const shownDays = 14;
/** The entries of a whole day are read for it. */
const maxAgeMs = 60_000;

/** Returns a function that reads what the desk earned on the last closed day and since then. */
export function createProfitView(
	{ pool, config, nowMs }: Pick<ConsoleParts, "pool" | "config" | "nowMs">,
	chainNames: ChainNames,
): () => Promise<ProfitView> {
	let last: { key: string; view: ReportView } | undefined;
	return cacheFor(
		async () => {
			const days = await readDaySums(pool, { limit: shownDays });
			const [newest] = days;
			// What is closed does not change, but another chain can close the day later.
			const key = newest && `${newest.day} ${newest.chains}`;
			if (newest && key && last?.key !== key) {
				last = { key, view: await read({ kind: "closed", days: [newest.day] }) };
			}
			const today = await read({ kind: "today", day: todayOf(nowMs()) });
			return { last: newest && last?.view, today, days };
		},
		{ maxAgeMs, nowMs },
	);

	async function read(range: Range): Promise<ReportView> {
		const {
			profits,
			swaps: _,
			...report
		} = await onSnapshot(pool, (db) => readReport(db, { range, config }));
		return {
			...report,
			sums: sumOf("swaps", profits),
			byPair: groupSwaps(profits, { by: "pair", chainNames }),
			byRoute: groupSwaps(profits, { by: "chain", chainNames }),
		};
	}
}

function todayOf(nowMs: Milliseconds): string {
	return new Date(nowMs).toISOString().slice(0, 10);
}

function onSnapshot<T>(pool: DatabasePool, run: (db: Database) => Promise<T>): Promise<T> {
	return inTransaction(pool, run, { first: "set transaction isolation level repeatable read, read only" });
}

/** Returns the newest closed days, newest first. */
async function readDaySums(db: Database, { limit }: { limit: number }): Promise<DaySums[]> {
	const { rows } = await db.query<DaySums>(
		`select day, count(distinct chain_id) as chains, coalesce(sum(flows36), 0) as flows36,
			coalesce(sum(positions36), 0) as positions36
		from book_days group by day order by day desc limit $1`,
		[limit],
	);
	return rows;
}
