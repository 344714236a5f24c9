import type { JournalLine } from "./journal.ts";
import { type RecomputedDay, recomputeDay } from "./recompute-day.ts";
import type { ShadowReport } from "./shadow-report.ts";

export type Verification = {
	recomputed: RecomputedDay;
	/** Absent if the day was not ended. */
	report: ShadowReport | undefined;
	/** Each sum that differs between the report and what its prices say. */
	differences: string[];
};

/** Compares the report at a journal's end, which was made from the books, with the sums that the recorded prices give. */
export function verifyJournal(lines: readonly JournalLine[]): Verification {
	const recomputed = recomputeDay(lines);
	const report = lines.flatMap((line) => (line.kind === "end" ? [line.report] : []))[0];
	return { recomputed, report, differences: report ? differencesOf(report, recomputed) : [] };
}

function differencesOf(report: ShadowReport, day: RecomputedDay): string[] {
	const sums = (["filled", "volumeE18", "earnedE18", "feesE18", "netE18"] as const).map(
		(name) => [name, report[name], day[name]] as const,
	);
	const pairs = report.pairs.map(
		({ pair, earnedE18 }) => [`earned by ${pair}`, earnedE18, day.earnedByPair.get(pair) ?? 0n] as const,
	);
	const stock = report.stock.flatMap(({ chainId, token, chain, symbol, end, inEscrow }) => [
		[`${symbol} held on ${chain}`, end, day.held.get(`${chainId}:${token}`) ?? 0n] as const,
		[`${symbol} in escrow on ${chain}`, inEscrow, day.inEscrow.get(`${chainId}:${token}`) ?? 0n] as const,
	]);
	return [...sums, ...pairs, ...stock].flatMap(([name, booked, found]) =>
		booked === found ? [] : [`${name}: the books have ${booked}, the recorded prices give ${found}`],
	);
}
