import type { Plan, SwapPlan } from "./plan.ts";
import type { RunResult } from "./run-plan.ts";

const maxLines = 60;

/**
 * A line of a trace that describes an action: `<ms> <who>: <what>`, with `!` as who for a fault. Other lines are mere
 * events.
 */
const tracePattern = /^(\d+) ([^: ]+): (.*)$/;
/** A line in which a wallet does something: `<ms> #<swap> <what>`. */
const walletPattern = /^(\d+) (#\d+ .*)$/;

type Moment = { atMs: number; who: string; what: string; weight: number };

/**
 * Describes a run for developers: what was planned, what happened, and what is wrong at the end. With `about`, the
 * place of a swap in the plan, describes only that swap's way, all of it, with the faults.
 */
export function timeline(
	plan: Plan,
	{ trace, violations }: Pick<RunResult, "trace" | "violations">,
	{ about }: { about?: number } = {},
): string[] {
	const blamed = about === undefined ? swapsNamedIn(violations) : new Set([`#${about}`]);
	const head = [
		`seed ${plan.seed}: ${plan.swaps.length} swaps, ${plan.faults.length} faults`,
		...plan.swaps.flatMap((swap, i) =>
			blamed.has(`#${i}`) || areAllTold(plan, about) ? [`  #${i} ${tellSwap(swap)}`] : [],
		),
		"",
	];
	const tail = ["", ...violations.slice(0, 8).map((violation) => `✗ ${violation}`)];
	if (violations.length > 8) tail.push(`✗ and ${violations.length - 8} more`);

	const moments = mergeRepeated(trace.flatMap((line) => readMoment(line, blamed)));
	const told =
		about === undefined
			? heaviest(moments, Math.max(10, maxLines - head.length - tail.length))
			: moments.filter(({ weight }) => weight >= aboutWeight);
	return [...head, ...told.map(tellMoment), ...tail];
}

/** Returns true if all swaps are listed, and not only those in a violation. */
function areAllTold({ swaps }: Plan, about: number | undefined): boolean {
	return about === undefined && swaps.length <= 10;
}

function swapsNamedIn(violations: readonly string[]): Set<string> {
	return new Set(violations.flatMap((violation) => violation.match(/#\d+/g) ?? []));
}

/** The weight of a line about a swap in a violation, or about the requested swap. */
const aboutWeight = 2;

/** Weighs a line. Faults count most, then the swaps in the violations, then other swaps, then the rest. */
function readMoment(line: string, blamed: ReadonlySet<string>): Moment[] {
	const [, walletAtMs, ofWallet] = walletPattern.exec(line) ?? [];
	const [, atMs, who, what] = ofWallet
		? [line, walletAtMs, "wallet", ofWallet]
		: (tracePattern.exec(line) ?? []);
	if (atMs === undefined || who === undefined || what === undefined) return [];
	const isFault = who === "!" || what.startsWith("! ");
	const named = what.match(/#\d+/g) ?? [];
	const weight = isFault
		? 3
		: named.some((name) => blamed.has(name))
			? aboutWeight
			: named.length > 0
				? 1
				: 0;
	return [{ atMs: Number(atMs), who, what, weight }];
}

function mergeRepeated(moments: readonly Moment[]): Moment[] {
	const merged: (Moment & { times: number })[] = [];
	for (const moment of moments) {
		const before = merged.at(-1);
		if (before?.who === moment.who && before.what === moment.what) before.times++;
		else merged.push({ ...moment, times: 1 });
	}
	return merged.map(({ times, ...moment }) =>
		times === 1 ? moment : { ...moment, what: `${moment.what} (${times} times)` },
	);
}

/**
 * Returns the heaviest moments, at most `room`, in their order. Of equal weight the last are kept, as the end explains
 * most.
 */
function heaviest(moments: readonly Moment[], room: number): Moment[] {
	const ranked = moments
		.map((moment, place) => ({ moment, place }))
		.toSorted((a, b) => b.moment.weight - a.moment.weight || b.place - a.place)
		.slice(0, room);
	return ranked.toSorted((a, b) => a.place - b.place).map(({ moment }) => moment);
}

function tellMoment({ atMs, who, what }: Moment): string {
	const seconds = (atMs / 1_000).toFixed(3).padStart(9);
	const shortened = what.length > 150 ? `${what.slice(0, 149)}…` : what;
	return `${seconds} s  ${who.padEnd(12)} ${shortened}`;
}

function tellSwap({
	atMs,
	from,
	to,
	input,
	output,
	usdCents,
	wallet,
	behaviour,
	recipient,
}: SwapPlan): string {
	const route = from === to ? `on ${from}` : `${from} → ${to}`;
	const how = [
		...(behaviour === "plain" ? [] : [behaviour]),
		...(recipient === "takes" ? [] : ["recipient refuses"]),
	];
	const value = (usdCents / 100).toFixed(2);
	const told = `${(atMs / 1_000).toFixed(1)} s: ${value} USD, ${input} → ${output} ${route}, wallet ${wallet}`;
	return how.length > 0 ? `${told}, ${how.join(", ")}` : told;
}
