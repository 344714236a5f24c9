import { isSolana, type Milliseconds, unpackDeadlines } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedPolicy } from "../read/audited-chain.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { AuditedSwap, Books } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/** A chain of the service, and the time of its newest final block if orders expire by it. */
export type ExposedChain = { chainId: number; policy: AuditedPolicy; finalAt: bigint | undefined };

/**
 * I10 and I15: the value delivered on other chains against deposits that a reorg can still drop, and against deposits
 * that are not released yet, is within the caps. Deliveries count once they are booked; deposits and releases that
 * became final since are subtracted. Earlier deliveries alone do not breach a cap that was lowered. It is breached only
 * if something was delivered while it applied.
 */
export function checkExposure({
	chains,
	swaps,
	events,
	histories,
	policySinceMs,
	nowMs,
}: {
	chains: readonly ExposedChain[];
	swaps: readonly AuditedSwap[];
	events: Books["events"];
	histories: ReadonlyMap<Hex, OrderHistory>;
	/** The time since which the caps have applied to deliveries. By default they have always applied. */
	policySinceMs?: Milliseconds | undefined;
	nowMs: Milliseconds;
}): { checked: { I10: number; I15: number }; breaches: Finding[] } {
	const breaches: Finding[] = [];
	const checked = { I10: 0, I15: 0 };
	const isOfPolicy = ({ decisions }: AuditedSwap) =>
		decisions.length === 0 || decisions.some(({ atMs }) => atMs >= (policySinceMs ?? 0));
	for (const { chainId, policy, finalAt } of chains) {
		const delivered = swaps.filter(
			({ order, orderId }) =>
				order.originChainId === BigInt(chainId) &&
				order.destinationChainId !== order.originChainId &&
				(events.filled.has(orderId) || (histories.get(orderId)?.filled.length ?? 0) > 0) &&
				!isDepositLost({ order, history: histories.get(orderId), finalAt, nowMs }),
		);
		const unfinal = delivered.filter(({ orderId }) => !histories.get(orderId)?.opened.length);
		const unreleased = delivered.filter(({ orderId }) => {
			const history = histories.get(orderId);
			return !events.decided.has(orderId) && !history?.released.length && !history?.refunded.length;
		});
		const over = (invariant: "I10" | "I15", of: readonly AuditedSwap[], capUsd: number, text: string) => {
			const cap = BigInt(Math.floor(capUsd * 100));
			const usdCents = of.reduce((sum, { valueUsdCents }) => sum + valueUsdCents, 0n);
			if (usdCents <= cap || !of.some(isOfPolicy)) return;
			const message = `${usdCents} cents are delivered against inputs from chain ${chainId} ${text}, and ${cap} may be`;
			breaches.push({ invariant, message, chainIds: [chainId], usdCents: String(usdCents) });
		};
		if (policy.unfinalCapUsd !== undefined) {
			checked.I10 += 1;
			over("I10", unfinal, policy.unfinalCapUsd, "that are not final");
		}
		if (policy.unreleasedCapUsd === undefined) continue;
		for (const [set, ofSet] of Map.groupBy(unreleased, ({ order }) => order.attesterSet)) {
			checked.I15 += 1;
			over("I15", ofSet, policy.unreleasedCapUsd, `that are not released by the attester set ${set}`);
		}
	}
	return { checked, breaches };
}

/** Seconds after the open deadline in which an order may still be opened on Solana, until its transaction expires. */
const solanaGraceSeconds = 600;

/** Returns true if no final block has the deposit, and none ever will. */
export function isDepositLost({
	order,
	history,
	finalAt,
	nowMs,
}: Pick<AuditedSwap, "order"> & {
	history: OrderHistory | undefined;
	finalAt: bigint | undefined;
	nowMs: Milliseconds;
}): boolean {
	if (history && history.opened.length > 0) return false;
	const { openDeadline } = unpackDeadlines(order.deadlines);
	if (isSolana(order.originChainId)) return nowMs / 1_000 > Number(openDeadline) + solanaGraceSeconds;
	return finalAt !== undefined && finalAt > openDeadline;
}
