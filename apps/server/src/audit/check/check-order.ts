import {
	isSolana,
	type Milliseconds,
	type Order,
	type Seconds,
	type SolanaDeployment,
	toSolanaWord,
	toWord,
	type UsdCents,
	unpackDeadlines,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { AuditedChain, AuditedPolicy } from "../read/audited-chain.ts";
import type { AuditedSolana } from "../read/audited-solana.ts";
import type { OrderHistory, OrderHoldings } from "../read/order-history.ts";
import { type AuditedSwap, crossCheckKey } from "../read/read-books.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
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

/**
 * I6: each delivery was decided on a deposit that was deep enough for its value and, if its value requires it,
 * confirmed by a second provider. Uses the configuration at the time of the decision, and also the current one if that
 * is known to have applied then.
 */
export function checkDepositDepth(
	{ id, orderId, order, valueUsdCents, decisions }: AuditedSwap,
	{
		policy,
		crossChecks,
		policySinceMs,
	}: { policy: AuditedPolicy; crossChecks: ReadonlySet<string>; policySinceMs: Milliseconds | undefined },
): Finding[] {
	return decisions.flatMap((decidedOn) => {
		const { blockNumber, headNumber, finalizedNumber, blocksNeeded, agreeAboveUsd, atMs } = decidedOn;
		const finding = (message: string): Finding => ({
			invariant: "I6",
			message: `swap ${id} was delivered on a deposit in block ${blockNumber} ${message}`,
			chainIds: [...new Set([Number(order.originChainId), Number(order.destinationChainId)])],
			orderId,
			swapId: id,
			usdCents: String(valueUsdCents),
		});
		const findings: Finding[] = [];
		const isFinal = blockNumber <= finalizedNumber;
		const isDeep = (blocks: number | undefined) =>
			isFinal || (blocks !== undefined && headNumber - blockNumber >= blocks);
		const isOfNow = policySinceMs !== undefined && atMs >= policySinceMs && policy.depths !== undefined;
		if (!isDeep(blocksNeeded) || (isOfNow && !isDeep(depthFor(policy, valueUsdCents)))) {
			findings.push(finding(`when its chain was at ${headNumber}, and final up to ${finalizedNumber}`));
		}
		const needsAgreement =
			agreeAboveUsd !== undefined && valueUsdCents > BigInt(Math.floor(agreeAboveUsd * 100));
		if (needsAgreement && !crossChecks.has(crossCheckKey({ orderId, blockNumber }))) {
			findings.push(finding("that no second provider was found to have"));
		}
		return findings;
	});
}

/** Returns undefined if a deposit of that value must be final. */
function depthFor({ depths = [] }: AuditedPolicy, valueUsdCents: UsdCents): number | undefined {
	const enough = depths.filter(({ upToUsd }) => valueUsdCents <= BigInt(Math.floor(upToUsd * 100)));
	const [least] = enough.toSorted((a, b) => a.upToUsd - b.upToUsd);
	return least?.blocks;
}

/** I1 in the program: the account of every order that is open holds its whole input. */
export function checkOrderHoldings(
	{ chainId }: AuditedSolana,
	{ events: { opened, released, refunded }, inOrders }: { events: ChainEvents; inOrders: OrderHoldings },
): Finding[] {
	const paidAt = new Map([...released, ...refunded].map(({ orderId, block }) => [orderId, block]));
	return opened.flatMap(({ orderId, order, block }): Finding[] => {
		const held = inOrders.get(orderId);
		// The events reach at least to the slot of the holdings.
		if (!held || block > held.slot || (paidAt.get(orderId) ?? Number.POSITIVE_INFINITY) <= held.slot)
			return [];
		if (held.amount >= order.inputAmount) return [];
		const message = `the account of an open order on Solana holds ${held.amount} of ${order.inputAmount}`;
		return [{ invariant: "I1", message, chainIds: [chainId], orderId }];
	});
}
