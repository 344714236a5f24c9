import {
	isSolana,
	type Order,
	type Seconds,
	type SolanaDeployment,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain } from "../read/audited-chain.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { Finding, Invariant } from "../read/report.ts";

/** The contracts and attester sets that identify orders of this service. */
export type Ours = {
	chains: readonly AuditedChain[];
	solana: SolanaDeployment | undefined;
	earlierAttesterSets: readonly Hex[];
	/** Chains that could not be read completely, so that the absence of an event there proves nothing. */
	unchecked: ReadonlySet<number>;
	/** The time at which an order's input was refunded, for refunds without a void. */
	refundedAt: ReadonlyMap<Hex, bigint>;
};

/** Seconds by which the clocks of two chains may differ. */
const clockSeconds = 60n;

/** I3, I4 and I5: an order is delivered at most once, and its input goes one way only. */
export function checkOrder(
	{ orderId, order, opened, released, refunded, filled, voided }: OrderHistory,
	ours: Ours,
): Finding[] {
	const breaches: Finding[] = [];
	const events = [opened, released, refunded, filled, voided].flat();
	const chainIds = order
		? [...new Set([Number(order.originChainId), Number(order.destinationChainId)])]
		: [...new Set(events.map(({ chainId }) => chainId))];
	const expect = (isSo: boolean, invariant: Invariant, message: string) => {
		if (!isSo) breaches.push({ invariant, message, chainIds, orderId });
	};
	expect(opened.length <= 1, "I4", `its input was taken ${opened.length} times`);
	expect(filled.length <= 1, "I3", `delivered ${filled.length} times`);
	expect(filled.length === 0 || voided.length === 0, "I3", "delivered and voided");
	expect(released.length + refunded.length <= 1, "I4", "its input left the escrow more than once");
	expect(refunded.length === 0 || filled.length === 0, "I5", "refunded although it was delivered");
	// Anyone may open an order with arbitrary terms. The audit does not check whether such an order is honest.
	if (order && isOurs(order, ours) && !chainIds.some((chainId) => ours.unchecked.has(chainId))) {
		for (const { chainId, delivered } of filled) {
			expect(BigInt(chainId) === order.destinationChainId, "I3", `delivered on chain ${chainId}`);
			expect(delivered >= order.minOutput, "I3", `delivered ${delivered}, less than ${order.minOutput}`);
		}
		expect(released.length === 0 || filled.length > 0, "I5", "released although no delivery is final");
		const refundedAt = ours.refundedAt.get(orderId);
		expect(
			filled.length > 0 || refundedAt === undefined || Number(refundedAt) >= refundableAt(order),
			"I5",
			"refunded although it was not void and could still be filled",
		);
	}
	return breaches;
}

/** Returns the first second in which an order may be refunded although no void closed it. */
export function refundableAt({ deadlines }: Order): Seconds {
	return Number(unpackDeadlines(deadlines).fillDeadline - clockSeconds);
}

/** Returns true if only a passed deadline can have allowed the refund. */
export function isRefundWithoutVoid({
	refunded,
	voided,
}: Pick<OrderHistory, "refunded" | "voided">): boolean {
	return refunded.length > 0 && voided.length === 0;
}

export function isOurs(
	order: Order,
	{ chains, solana, earlierAttesterSets }: Pick<Ours, "chains" | "solana" | "earlierAttesterSets">,
): boolean {
	const vaultsOf = (chainId: bigint): Hex[] => {
		if (isSolana(chainId)) return solana ? [toSolanaWord(solana.program.vault)] : [];
		return chains.find((chain) => BigInt(chain.chainId) === chainId)?.vaults.map(toWord) ?? [];
	};
	const origin = chains.find((chain) => BigInt(chain.chainId) === order.originChainId);
	const set = (isSolana(order.originChainId) ? solana?.program : origin?.deployment)?.attesterSet.hash;
	return (
		[set, ...earlierAttesterSets].includes(order.attesterSet) &&
		vaultsOf(order.originChainId).includes(order.originVault) &&
		vaultsOf(order.destinationChainId).includes(order.destinationVault)
	);
}
