import type { Hex } from "viem";
import type { AuditedChain } from "./audited-chain.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import type { OrderHistory } from "./order-history.ts";

/** Returns when inputs were refunded, by the clock of a chain where anyone can do so after `refundAfter`. */
export async function readRefundTimes(
	chains: readonly AuditedChain[],
	{
		histories,
		ask,
	}: {
		histories: readonly OrderHistory[];
		/** Returns undefined if the chain does not respond. */
		ask: <T>(chain: AuditedChain, asking: Promise<T>) => Promise<T | undefined>;
	},
): Promise<Map<Hex, bigint>> {
	const refunds = histories.flatMap(({ orderId: id, refunded: [refund] }) => {
		const chain = chains.find(({ chainId }) => chainId === refund?.chainId);
		return chain && refund
			? [{ id, chain, block: refund.block, key: `${chain.chainId}:${refund.block}` }]
			: [];
	});
	const blocks = [...new Map(refunds.map((refund) => [refund.key, refund])).values()];
	const times = await mapConcurrently(
		blocks,
		async ({ key, chain, block }): Promise<[string, bigint | undefined]> => {
			const found = await ask(chain, chain.client.getBlock({ blockNumber: BigInt(block) }));
			return [key, found?.timestamp];
		},
	);
	const byBlock = new Map(times);
	return new Map(
		refunds.flatMap(({ id, key }) => {
			const at = byBlock.get(key);
			return at === undefined ? [] : [[id, at] as const];
		}),
	);
}
