import { canMove, type FailureCode, isTerminal, type SwapStage, type SwapStatus } from "@geoswap/protocol";
import type { Move, SwapRecord } from "../swap/facts/swap-record.ts";

export const failureMessages: Record<FailureCode, string> = {
	NOT_OPENED: "The order was not opened before its deadline. Nothing was taken from the wallet.",
	PRICE_MOVED:
		"The output fell below its minimum before it could be delivered. The whole input was returned.",
	NO_LIQUIDITY: "There was too little liquidity to deliver the output. The whole input was returned.",
	RECIPIENT_REFUSED: "The recipient could not be paid. The whole input was returned.",
	DENIED:
		"The operator does not deliver from this wallet or to this recipient. The whole input was returned.",
	TOO_LATE: "The output could not be delivered in time. The whole input was returned.",
};

/** Returns where a path of the transition table leads a swap; undefined if it is there already. Throws if it cannot. */
export function applyTransition(
	swap: SwapRecord,
	path: readonly Move[],
): { stage: SwapStage; status: SwapStatus; steps: Move[] } | undefined {
	const last = path.at(-1);
	if (last === undefined || last === swap.stage || last === swap.status) return undefined;
	let stage = swap.stage;
	let status: SwapStatus = swap.status;
	const steps = path.slice(path.indexOf(stage) + 1);
	for (const to of steps) {
		if (isTerminal(status) || !canMove(stage, to)) throw new IllegalMoveError(swap, path);
		if (to === "settled" || to === "failed" || to === "refunded") status = to;
		else stage = to;
	}
	return { stage: status === "settled" ? "delivered" : stage, status, steps };
}

/** The facts on which this was decided are not those of the row, so it must be decided again. */
class IllegalMoveError extends Error {
	override name = "IllegalMoveError";

	constructor({ id, status, stage }: SwapRecord, path: readonly Move[]) {
		super(`swap ${id} is ${status}, ${stage} and cannot go through ${path.join(", ")}`);
	}
}
