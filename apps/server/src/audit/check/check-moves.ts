import type { SwapStage, SwapStatus } from "@geoswap/protocol";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/** The diagram in docs/flow.md, written a second time, so that a mistake in the service's own table is found. */
const picture: Record<string, readonly string[]> = {
	opening: ["deposited", "settled", "failed"],
	deposited: ["opening", "delivering", "refunding"],
	delivering: ["opening", "settled", "refunding"],
	refunding: ["opening", "settled", "refunded"],
} satisfies Partial<Record<SwapStage, readonly (SwapStage | SwapStatus)[]>>;

/** I7: a swap reached its stage by steps of the one transition table, and none follows a terminal status. */
export function checkMoves({ id, orderId, order, status, stage, moves }: AuditedSwap): Finding[] {
	const finding = (message: string): Finding => ({
		invariant: "I7",
		message: `swap ${id} ${message}`,
		chainIds: [...new Set([Number(order.originChainId), Number(order.destinationChainId)])],
		orderId,
		swapId: id,
	});
	const findings: Finding[] = [];
	if (moves[0] !== "opening") findings.push(finding(`began as ${moves[0]}`));
	for (let i = 1; i < moves.length; i++) {
		const [from = "", to = ""] = [moves[i - 1], moves[i]];
		if (!picture[from]?.includes(to)) findings.push(finding(`went from ${from} to ${to}`));
	}
	const last = moves.at(-1);
	const is = status === "pending" ? stage : status;
	if (last !== is) findings.push(finding(`is ${is}, but its last step was to ${last}`));
	return findings;
}
