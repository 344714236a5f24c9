import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../database/database.ts";
import { queueJobs } from "../job/queue-jobs.ts";
import { markReservationsOpened } from "../money/inventory/reservations.ts";
import { recordUnsettledGas } from "../money/unsettled-gas.ts";
import type { Decision, Hold } from "../swap/decide/decision.ts";
import { writeWaits } from "../swap/due/write-waits.ts";
import type { Move, SwapRecord } from "../swap/facts/swap-record.ts";
import { recordRefusal } from "../swap/record/record-refusal.ts";
import type { Plan } from "./plan-changes.ts";
import { recordFacts, writeSwaps } from "./write-swaps.ts";

/** A party that has work because of a round: the lanes or the attesters of a chain, or its second provider. */
export type RoundPoke = { who: "lanes" | "attesters" | "second-provider"; chainId: number };

export type Applied = {
	/** The swap as it was before. */
	swap: SwapRecord;
	/** The whole decision. Less was done if `heldBy` is set. */
	decision: Decision;
	heldBy?: Hold;
	/** True if the fact differs from the previous one. */
	isNews: boolean;
	/** The stages, or the status that ends them, that the swap newly reached. */
	moves: readonly Move[];
	/** The jobs that lanes have refused, with their reasons, as in "fill: price". */
	refused: string[];
	pokes: RoundPoke[];
};

/** Writes what was planned for many swaps, a table at a time. The swaps must be locked, and their holds taken. */
export async function writePlans(db: Database, plans: readonly Plan[], nowMs: Milliseconds): Promise<void> {
	await queueJobs(
		db,
		plans.flatMap(({ queue }) => queue),
	);
	await markReservationsOpened(
		db,
		plans.filter(({ isOpened }) => isOpened).map(({ permitted }) => permitted.swap.id),
	);
	await writeSwaps(
		db,
		plans.flatMap(({ change }) => change ?? []),
		{ nowMs },
	);
	await recordFacts(
		db,
		plans.filter(isNews).map(({ permitted: { swap, decision } }) => ({
			swapId: swap.id,
			fact: decision.fact,
			data: factData(decision),
		})),
	);
	await writeWaits(
		db,
		plans.flatMap(({ next }) => next ?? []),
	);
	// Refusals are rare enough to be written one at a time.
	for (const { permitted, refusal } of plans) {
		if (refusal) await recordRefusal(db, { swapId: permitted.swap.id, reason: refusal, nowMs });
	}
	const unsettled = plans.filter(
		({ permitted, change }) => permitted.decision.isEnd && change?.status !== "settled",
	);
	await recordUnsettledGas(db, { swapIds: unsettled.map(({ permitted }) => permitted.swap.id), nowMs });
}

function isNews({ permitted: { wait, decision } }: Plan): boolean {
	return decision.fact !== wait.fact;
}

/** Returns what was done about a swap, for the log and telemetry, and the parties to wake. */
export function appliedOf(plan: Plan): Applied {
	const {
		permitted: { swap, facts, whole, heldBy },
		change,
		queue,
		next,
	} = plan;
	return {
		swap,
		decision: whole,
		...(heldBy && { heldBy }),
		isNews: isNews(plan),
		moves: change?.steps ?? [],
		refused: Object.entries(facts?.jobs ?? {}).flatMap(([kind, job]) =>
			job?.state === "refused" ? `${kind}: ${job.reason ?? "reverted"}` : [],
		),
		pokes: [
			...queue.map(({ job }): RoundPoke => {
				return { who: job.state === "unattested" ? "attesters" : "lanes", chainId: job.chainId };
			}),
			...(next?.ask ? [{ who: "second-provider", chainId: next.ask.chainId } as const] : []),
		],
	};
}

/** Returns the parts of a decision that a reader of the history needs. */
function factData({ actions }: Decision): Record<string, unknown> {
	const data: Record<string, unknown> = {};
	for (const action of actions) {
		if (action.do === "give-up") data.givingUp = action.code;
		if (action.do === "queue" && "agreeAboveUsd" in action) data.agreeAboveUsd = action.agreeAboveUsd;
		if (action.do === "queue" && "deposit" in action) data.deposit = action.deposit;
		if (action.do === "note") {
			for (const [field, value] of Object.entries(action.notes)) data[field] = value && String(value);
		}
	}
	return data;
}
