import { fromSwapKey, isSolana, spareSwapUuid } from "@geoswap/protocol";
import type { AuditedSwap, Books } from "../read/read-books.ts";
import type { Finding } from "../read/report.ts";

/**
 * I11: each order has one swap, and the order contains that swap's id. All transactions with the same nonce are for the
 * same jobs, and only one of them lands.
 */
export function checkOnce(
	swaps: readonly AuditedSwap[],
	{ doubled, nonces }: Pick<Books, "doubled" | "nonces">,
): Finding[] {
	const byId = new Map(swaps.map((swap) => [swap.id, swap]));
	return [
		...swaps.flatMap(({ id, orderId, order }): Finding[] => {
			if (idsOf({ orderId, order }).includes(id)) return [];
			const message = `swap ${id} has the order of another swap`;
			return [{ invariant: "I11", message, chainIds: [Number(order.originChainId)], orderId, swapId: id }];
		}),
		...doubled.map(({ orderId, swapIds }): Finding => {
			const order = swapIds.map((id) => byId.get(id)?.order).find((known) => known !== undefined);
			const chainIds = order ? [Number(order.originChainId)] : [];
			const message = `swaps ${swapIds.join(", ")} have one order`;
			return { invariant: "I11", message, chainIds, orderId };
		}),
		...nonces.wrong.map(({ chainId, relayer, nonce, sets, landed }): Finding => {
			const what = isSolana(chainId) ? "row" : "nonce";
			const message =
				landed > 1
					? `${landed} transactions of relayer 0x${relayer} with ${what} ${nonce} are in blocks of chain ${chainId}`
					: `relayer 0x${relayer} signed ${sets} sets of jobs for ${what} ${nonce} on chain ${chainId}`;
			return { invariant: "I11", message, chainIds: [chainId] };
		}),
	];
}

/**
 * Returns the ids that the order's swap may have. Anyone can open an order with another order's swap key. A swap made
 * from it has an id derived from its order id.
 */
function idsOf({ orderId, order: { swapKey } }: Pick<AuditedSwap, "orderId" | "order">): string[] {
	if (BigInt(swapKey) >> 128n !== 0n) return [];
	return [fromSwapKey(swapKey), spareSwapUuid({ swapKey, orderId })];
}
