import type { HistoryTransaction, SwapHistory } from "./read-history.ts";
import type { SwapView } from "./swap-view.ts";

/** Something that happened to a swap at a known time. */
export type Moment = { at: Date } & (
	| { kind: "fact"; fact: string; givingUp: string | undefined }
	| { kind: "transaction"; transaction: HistoryTransaction }
	/** Nothing is left to do. */
	| { kind: "end" }
);

/** Returns what rounds found and lanes signed, oldest first. */
export function swapTimeline(
	{ endedAt }: Pick<SwapView, "endedAt">,
	{ facts, transactions }: SwapHistory,
): Moment[] {
	const moments: Moment[] = [
		...facts.map(({ at, fact, data }) => ({
			at,
			kind: "fact" as const,
			fact,
			givingUp: typeof data.givingUp === "string" ? data.givingUp : undefined,
		})),
		...transactions.map((transaction) => ({
			at: transaction.signedAt,
			kind: "transaction" as const,
			transaction,
		})),
		...(endedAt ? [{ at: new Date(endedAt), kind: "end" as const }] : []),
	];
	return moments.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}
