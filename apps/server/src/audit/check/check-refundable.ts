import { fromWord, geoEscrowAbi, unpackDeadlines } from "@geoswap/protocol";
import { ContractFunctionExecutionError, type Hex } from "viem";
import { type AuditedChain, isListed } from "../read/audited-chain.ts";
import type { OrderHistory } from "../read/order-history.ts";
import type { Finding } from "../read/report.ts";

/** The maximum number of orders to check. A healthy service never has as many. */
const maxAtOnce = 500;

/**
 * I12: anyone can refund an order that is undecided at `refundAfter`. The chain simulates the call, with the multicall
 * contract as the caller.
 */
export async function checkRefundable(
	chain: AuditedChain,
	{
		histories,
		known,
		block,
	}: {
		/** Histories of the service's own orders. */
		histories: readonly OrderHistory[];
		/** Orders that have a swap. They are checked first, because anyone can open any number of others. */
		known: ReadonlySet<Hex>;
		block: { number: bigint; timestamp: bigint };
	},
): Promise<{ checked: number; breaches: Finding[] }> {
	const due = histories.flatMap(({ orderId, order, opened, released, refunded }) => {
		const isUndecided = opened.length > 0 && released.length + refunded.length === 0;
		if (!order || !isUndecided || order.originChainId !== BigInt(chain.chainId)) return [];
		// An unlisted token may behave arbitrarily.
		if (!isListed(chain, fromWord(order.inputToken))) return [];
		return block.timestamp > unpackDeadlines(order.deadlines).refundAfter ? [{ orderId, order }] : [];
	});
	const { yes = [], no = [] } = Object.groupBy(due, ({ orderId }) => (known.has(orderId) ? "yes" : "no"));
	const asked = [...yes, ...no].slice(0, maxAtOnce);
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
		// The node failed on the multicall itself, which shows nothing about the order.
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
