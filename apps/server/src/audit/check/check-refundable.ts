import { fromWord, geoEscrowAbi, unpackDeadlines } from "@geoswap/protocol";
import { ContractFunctionExecutionError, type Hex } from "viem";
import { type AuditedChain, isListed } from "../read/audited-chain.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { Finding } from "../read/report.ts";

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
		known,
		block,
	}: {
		/** Of orders of the service. */
		histories: readonly OrderHistory[];
		/** Orders that have a swap. They are asked about first: anyone can open others, as many as he likes. */
		known: ReadonlySet<Hex>;
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
	const { yes = [], no = [] } = Object.groupBy(due, ({ orderId }) => (known.has(orderId) ? "yes" : "no"));
	const asked = [...yes, ...no].slice(0, mostAtOnce);
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
		// The node did not answer for the bundle of calls: of the order that says nothing.
		if (!isOfOrder(answer.error)) throw answer.error;
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

function isOfOrder(error: Error): boolean {
	return error instanceof ContractFunctionExecutionError && error.functionName === "refund";
}
