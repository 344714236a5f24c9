import { fromWord, type SwapUuid } from "@geoswap/protocol";
import { balanceView, readViews } from "../../chain/evm/read/read-views.ts";
import type { Job } from "../../swap/facts/job.ts";
import type { Lane } from "./lane.ts";

/**
 * Returns the opens whose wallets hold less than the inputs of all their unopened orders. Any of these opens may fail.
 * A failed bundle costs us gas and delays the other opens in it. Makes one call to the chain for all wallets.
 */
export async function findUnproven(
	{ chain }: Pick<Lane, "chain">,
	jobs: readonly Job[],
	claims: ReadonlyMap<SwapUuid, bigint>,
): Promise<Set<SwapUuid>> {
	const balances = await readViews(
		chain,
		jobs.map(({ order }) =>
			balanceView(chain, { wallet: fromWord(order.wallet), token: fromWord(order.inputToken) }),
		),
	);
	const unproven = jobs.filter(
		({ swapId, order }, i) => (balances[i] ?? 0n) < (claims.get(swapId) ?? order.inputAmount),
	);
	return new Set(unproven.map(({ swapId }) => swapId));
}
