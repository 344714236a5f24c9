import { type Milliseconds, orderId as orderIdOf, unpackDeadlines } from "@geoswap/protocol";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap } from "../read/read-books.ts";
import type { Finding, Invariant } from "../read/report.ts";

/**
 * Seconds after `refundAfter` by which a swap's outcome must be recorded and final. Counted from the time since which
 * the service has been running and had its swaps, if that was later.
 */
const graceSeconds = 3_600;

/** I8, I9 and I14: the status in the API matches the chains. Outcomes that are not final yet are not checked. */
export function checkSwap(
	{ id, orderId, order, status, isEnded, deliveredAmount }: AuditedSwap,
	{
		history,
		finalAt,
		bookedAt,
		workingSinceMs = 0,
		isOwed = false,
		nowMs,
	}: {
		history: OrderHistory | undefined;
		/** Time of each chain's newest final block, by its own clock. Undefined if orders do not expire by it. */
		finalAt: { origin: bigint | undefined; destination: bigint | undefined };
		/** The same for the newest final block of each chain that the service has processed. */
		bookedAt: { origin: bigint | undefined; destination: bigint | undefined };
		/** Time since which the service has been able to work on the swap. */
		workingSinceMs?: Milliseconds | undefined;
		/** True if only the wallet or its token blocks the refund. */
		isOwed?: boolean | undefined;
		nowMs: Milliseconds;
	},
): Finding[] {
	const breaches: Finding[] = [];
	const chainIds = [...new Set([Number(order.originChainId), Number(order.destinationChainId)])];
	const expect = (isSo: boolean, invariant: Invariant, message: string) => {
		if (!isSo) breaches.push({ invariant, message: `swap ${id} ${message}`, chainIds, orderId, swapId: id });
	};
	const { openDeadline, refundAfter } = unpackDeadlines(order.deadlines);
	const isLate = nowMs / 1_000 > Number(refundAfter) + graceSeconds;
	const isFinalPast = [finalAt.origin, finalAt.destination].every(
		(at) => at === undefined || Number(at) > Number(refundAfter) + graceSeconds,
	);
	// An outcome that was reported to callers is also checked if it has not become final by now.
	const isOver = isEnded || (isLate && isFinalPast);
	expect(orderIdOf(order) === orderId, "I8", "has an order id that is not its order's");
	if (status === "failed") {
		expect(!history || history.opened.length === 0, "I8", "is failed, but its order was opened");
		expect(
			finalAt.origin === undefined || finalAt.origin > openDeadline,
			"I8",
			"is failed, but its order can still be opened",
		);
	}
	if (status === "settled" && isOver) {
		const delivered = history?.filled[0]?.delivered;
		expect(delivered !== undefined, "I8", "is settled, but nothing was delivered");
		expect(
			delivered === undefined || deliveredAmount === undefined || delivered === deliveredAmount,
			"I8",
			`was recorded as delivered with ${deliveredAmount}, but it was ${delivered}`,
		);
		const { opened = [], released = [], refunded = [] } = history ?? {};
		const isInEscrow = opened.length > 0 && released.length + refunded.length === 0;
		expect(isEnded || !isInEscrow, "I14", "is settled, but its input can go back to its wallet by now");
	}
	if (status === "refunded" && isOver) {
		const isPaid = history?.refunded.some(({ paid }) => paid || history.claimed.length > 0);
		expect(isPaid === true, "I9", "is refunded, but its wallet was not paid");
		expect(history?.opened[0]?.order.inputAmount === order.inputAmount, "I9", "was not refunded in full");
	}
	const isPendingLate =
		nowMs / 1_000 > Math.max(Number(refundAfter), workingSinceMs / 1_000) + graceSeconds &&
		[bookedAt.origin, bookedAt.destination].every((at) => at === undefined || at > refundAfter);
	// A refund may stay pending for any time if it is an unclaimed credit, or if the wallet itself blocks it.
	const isCredited = history?.refunded[0]?.paid === false;
	expect(
		status !== "pending" || !isPendingLate || isCredited || isOwed,
		"I14",
		"is pending past the time by which it had to be decided",
	);
	return breaches;
}
