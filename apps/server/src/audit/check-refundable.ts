import { fromWord, geoEscrowAbi, unpackDeadlines } from "@geoswap/protocol";
import { type AuditedChain, isListed } from "./audited-chain.ts";
import type { OrderHistory } from "./order-history.ts";
import type { Finding } from "./report.ts";

/** More than a service that is well ever has. */
const mostAtOnce = 500;

/**
 * I12: what nobody has decided by `refundAfter` can be refunded by anyone. Asked of the chain, as whoever makes the call:
 * the contract that bundles calls.
 */
export async function checkRefundable(
	chain: AuditedChain,
	{
		histories,
		block,
	}: {
		/** Of orders of the service. */
		histories: readonly OrderHistory[];
		block: { number: bigint; timestamp: bigint };
	},
): Promise<{ checked: number; breaches: Finding[] }> {
	const due = histories.flatMap(({ orderId, order, opened, released, refunded }) => {
		const isUndecided = opened.length > 0 && released.length + refunded.length === 0;
		if (!order || !isUndecided || order.originChainId !== BigInt(chain.chainId)) return [];
		// A token of somebody's own may do as it likes.
		if (!isListed(chain, fromWord(order.inputToken))) return [];
		return block.timestamp > unpackDeadlines(order.deadlines).refundAfter ? [{ orderId, order }] : [];
	});
	const asked = due.slice(0, mostAtOnce);
	if (asked.length === 0) return { checked: 0, breaches: [] };
	const answers = await chain.client.multicall({
		allowFailure: true,
		blockNumber: block.number,
		contracts: asked.map(({ order }) => ({
			address: fromWord(order.escrow),
			abi: geoEscrowAbi,
			functionName: "refund" as const,
			args: [order] as const,
		})),
	});
	const breaches = asked.flatMap(({ orderId, order }, i): Finding[] => {
		const answer = answers[i];
		if (!answer || answer.status === "success") return [];
		return [
			{
				invariant: "I12",
				message: `refund() fails past refundAfter: ${answer.error.message.split("\n")[0]}`,
				chainIds: [chain.chainId],
				orderId,
				token: fromWord(order.inputToken),
				amount: String(order.inputAmount),
			},
		];
	});
	return { checked: asked.length, breaches };
}
