import { canMove, type Milliseconds, type SwapStage } from "@geoswap/protocol";
import type { FactJob, Facts } from "../facts/facts.ts";
import type { Move, Notes } from "../facts/swap-record.ts";
import type { Action, QueueAction } from "./decision.ts";
import type { SwapView } from "./swap-view.ts";

/** Returns the action for a job that must be done. A refused job is retried after a pause. */
export function queueOnce(
	view: SwapView,
	job: FactJob | undefined,
	action: QueueAction,
): { actions: Action[]; pauseMs: Milliseconds } {
	if (!job) return { actions: [action], pauseMs: 0 };
	// The job waits for attesters that it no longer needs.
	if (job.state === "unattested" && "attested" in action && !action.attested) {
		return { actions: [{ ...action, again: true }], pauseMs: 0 };
	}
	const isOver = job.state === "refused" || job.state === "done";
	if (!isOver) return { actions: [], pauseMs: 0 };
	return { actions: [{ ...action, again: true }], pauseMs: slowMs(view) };
}

/** Returns how many milliseconds after its refusal a job is retried. */
function slowMs({ policy }: SwapView): number {
	const finalitySeconds = Math.max(policy.origin.finalitySeconds, policy.destination.finalitySeconds);
	return Math.min(60_000, Math.max(10_000, finalitySeconds * 1_000));
}

/** Notes the hashes of what is on the chains now. A settled delivery keeps its hash until it is made again. */
export function noteHashes({ swap, isPending, events: { Opened, Filled } }: SwapView): Action[] {
	const actions: Action[] = [];
	if (Opened) note(actions, swap, { originTxHash: Opened.transactionHash });
	if (Filled) {
		note(actions, swap, { deliveryTxHash: Filled.transactionHash, deliveredAmount: Filled.data.delivered });
	} else if (isPending) {
		note(actions, swap, { deliveryTxHash: null, deliveredAmount: null });
	}
	return actions;
}

export function note(actions: Action[], swap: Facts["swap"], notes: Notes): void {
	const isNews = Object.entries(notes).some(
		([field, value]) => (swap[field as keyof Notes] ?? null) !== value,
	);
	if (isNews) actions.push({ do: "note", notes });
}

const stageAfter: Partial<Record<Move, Move>> = { opening: "deposited", deposited: "delivering" };

/** Adds the steps from the swap's stage, or from the end of steps added before. All steps are one action. */
export function advance({ swap }: SwapView, actions: Action[], to: Move): void {
	const before = actions.find((action) => action.do === "advance");
	const path = before?.path ?? [];
	for (let at: Move | undefined = path.at(-1) ?? swap.stage; at && at !== to; at = stageAfter[at]) {
		if (at !== (path.at(-1) ?? swap.stage)) path.push(at);
		if (!canMove(at as SwapStage, to)) continue;
		path.push(to);
		break;
	}
	if (!before && path.length > 0) actions.push({ do: "advance", path });
}
