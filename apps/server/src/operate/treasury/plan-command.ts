import { formatUnits } from "viem";
import { decimal, duration } from "../../api/page/format.ts";
import type { Config } from "../../config/config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { Database } from "../../database/database.ts";
import { type Flow, readFlows } from "../../money/move/declared-flows.ts";
import { isOverState } from "../../money/move/treasury-moves.ts";
import { readTreasuryPause, type TreasuryPause } from "../../money/move/treasury-pause.ts";
import { type PlannedToken, readNewestPlan, type StoredPlan } from "../../treasury/stored-plan.ts";
import { withDatabase } from "../with-database.ts";
import { describePause } from "./pause-commands.ts";

/** By default a plan is made every five minutes. One that is older than this means that none are made. */
const maxAgeMs = 15 * 60_000;

export type NewestPlan = { at: Date; plan: StoredPlan };

/** Returns the exit code: 0 if there is a plan of the last minutes, 1 if not. */
export async function planCommand({
	config: path,
	json,
}: {
	config: string;
	json?: boolean;
}): Promise<number> {
	const { mode } = readConfig(path).treasury;
	const { newest, pause } = await withDatabase(async (pool) => ({
		newest: await readNewestPlan(pool),
		pause: await readTreasuryPause(pool),
	}));
	const nowMs = Date.now();
	if (json) {
		console.log(JSON.stringify(newest ? { at: newest.at, paused: pause ?? null, ...newest.plan } : null));
	} else {
		if (pause) console.log(`${describePause(pause)}.`);
		if (newest) console.log(describePlan(newest, { mode, isPaused: pause !== undefined, nowMs }).join("\n"));
	}
	const problem = planProblem(newest, { mode, nowMs });
	if (problem) console.error(`error: ${problem}`);
	return problem ? 1 : 0;
}

/** Returns why there is no recent plan and what to check, or undefined if there is one. */
export function planProblem(
	newest: Pick<NewestPlan, "at"> | undefined,
	{ mode, nowMs }: { mode: Config["treasury"]["mode"]; nowMs: number },
): string | undefined {
	if (mode === "off") return "treasury.mode is off, so nothing is planned and no price leans; set it to plan";
	if (newest && nowMs - newest.at.getTime() <= maxAgeMs) return undefined;
	const what = newest ? `the newest plan is ${ageOf(newest.at, nowMs)} old` : "there is no plan yet";
	return `${what}. A worker makes one every treasury.planSeconds: check that one runs with treasury.mode plan or act, and its log for "planning moves of the inventory failed"`;
}

/** Returns the lines that describe a plan for people. */
export function describePlan(
	{ at, plan }: NewestPlan,
	{ mode, isPaused, nowMs }: { mode: Config["treasury"]["mode"]; isPaused: boolean; nowMs: number },
): string[] {
	const { moves, reasons, chains } = plan;
	const isDone = mode === "act" && !isPaused;
	const verb = isDone ? "It moves" : "It would move";
	const then = isDone ? "Its moves are queued." : "Nothing is moved by it.";
	return [
		`Plan of ${at.toISOString()}, ${ageOf(at, nowMs)} old. ${then}`,
		"",
		moves.length === 0 ? `${verb} nothing.` : `${verb}:`,
		...moves.map(({ kind, reason }, i) => `  ${i + 1}. ${kind}: ${reason}`),
		...(reasons.length > 0
			? ["", "What it leaves, and why:", ...reasons.map((reason) => `  ${reason}`)]
			: []),
		...chains.flatMap(({ chainId, name, status, tokens }) => [
			"",
			`${name} (${chainId})${status === "open" ? "" : `, ${status}`}`,
			...tokens.map((token) => `  ${describeToken(token)}`),
		]),
	];
}

function describeToken({
	symbol,
	decimals,
	held,
	free,
	arriving,
	needed,
	maxHeld,
	moveCostBps,
}: PlannedToken): string {
	const shown = (amount: string) => decimal(formatUnits(BigInt(amount), decimals), 4);
	const parts = [`${symbol}: held ${shown(held)}`, `free ${shown(free)}`];
	if (needed !== null) parts.push(`arriving ${shown(arriving)}`, `needed ${shown(needed)}`);
	if (moveCostBps !== null) parts.push(`more costs ${moveCostBps} bps`);
	if (maxHeld !== null) parts.push(`kept up to ${shown(maxHeld)}`);
	return parts.join(", ");
}

function ageOf(at: Date, nowMs: number): string {
	return duration((nowMs - at.getTime()) / 1_000);
}

export type TreasuryView = {
	newest: NewestPlan | undefined;
	pause: TreasuryPause | undefined;
	/** Declared flows and moves that are not over. */
	openFlows: Flow[];
};

/** Reads the newest plan, whether the treasury is paused, and what is under way. */
export async function readTreasuryView(db: Database, { limit }: { limit: number }): Promise<TreasuryView> {
	const [newest, pause, flows] = await Promise.all([
		readNewestPlan(db),
		readTreasuryPause(db),
		readFlows(db, { limit }),
	]);
	return { newest, pause, openFlows: flows.filter(({ state }) => !isOverState(state)) };
}
