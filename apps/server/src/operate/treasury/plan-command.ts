import { formatUnits } from "viem";
import { decimal, duration } from "../../api/page/format.ts";
import type { Config } from "../../config/config.ts";
import { readConfig } from "../../config/read-config.ts";
import type { Database } from "../../database/database.ts";
import { type Flow, readFlows } from "../../money/move/declared-flows.ts";
import { type PlannedToken, readNewestPlan, type StoredPlan } from "../../treasury/stored-plan.ts";
import { withDatabase } from "../with-database.ts";

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
	const { treasury } = readConfig(path);
	const newest = await withDatabase(readNewestPlan);
	const nowMs = Date.now();
	if (json) console.log(JSON.stringify(newest ? { at: newest.at, ...newest.plan } : null));
	else if (newest) console.log(describePlan(newest, { nowMs }).join("\n"));
	const problem = planProblem(newest, { mode: treasury.mode, nowMs });
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
export function describePlan({ at, plan }: NewestPlan, { nowMs }: { nowMs: number }): string[] {
	const { moves, reasons, chains } = plan;
	return [
		`Plan of ${at.toISOString()}, ${ageOf(at, nowMs)} old. Nothing is moved by it.`,
		"",
		moves.length === 0 ? "It would move nothing." : "It would move:",
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

/** Reads the newest plan, and the declared flows and moves that are not over. */
export async function readTreasuryView(
	db: Database,
	{ limit }: { limit: number },
): Promise<{ newest: NewestPlan | undefined; openFlows: Flow[] }> {
	const [newest, flows] = await Promise.all([readNewestPlan(db), readFlows(db, { limit })]);
	const over = ["final", "failed", "cancelled", "lost"];
	return { newest, openFlows: flows.filter(({ state }) => !over.includes(state)) };
}
