import { fromSwapKey, type Milliseconds, type Order } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { Part } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { jobPriority } from "../../swap/facts/job.ts";
import { recentSwapIds } from "../../swap/record/read-swap.ts";

/** Other unopened swaps of an order's wallet and account. */
export type Unopened = {
	/** Swaps of the wallet on the order's chain. */
	ofWallet: number;
	/** Swaps of the account, on all chains. */
	ofAccount: number;
	/** The amount of the same token that the wallet's other orders will take, except those in `countedOrders`. */
	claimed: bigint;
	/** The order's place among those waiting to be opened on its chain. The lowest goes first. */
	turn: number;
};

const text = `select "ofWallet", "ofAccount", claimed, greatest(last_turn + 1, first_turn) as turn
	from (
		select count(*)::int as "ofWallet",
			coalesce(sum((order_terms->>'inputAmount')::numeric)
				filter (where order_terms->>'inputToken' = $inputToken and order_id <> all($countedOrderIds)), 0) as claimed
		from swaps
		where order_terms->>'wallet' = $wallet and status = 'pending' and stage = 'opening'
			and id between $firstSwapId and $lastSwapId and id <> $swapId
			and order_terms->>'originChainId' = $originChainId
	) wallet, (
		select count(*)::int as "ofAccount",
			coalesce(max(turn) filter (where order_terms->>'originChainId' = $originChainId), -1) as last_turn
		from swaps
		where account_id = $accountId and ended_at is null and status = 'pending' and stage = 'opening'
			and id between $firstSwapId and $lastSwapId
	) account, (
		select coalesce(min(turn), 0) as first_turn from jobs
		where chain_id = $originChainId::bigint and state = 'queued' and priority = $openPriority
			and case kind when 'open' then failures else 0 end = 0
	) queue`;

/**
 * Returns a query for one row. Run it under the locks of the account and the wallet, so that nothing is added
 * meanwhile.
 */
export function unopenedBy({
	order,
	accountId,
	countedOrders,
	nowMs,
}: {
	order: Order;
	accountId: string;
	countedOrders: readonly Hex[];
	nowMs: Milliseconds;
}): Part {
	const [firstSwapId, lastSwapId] = recentSwapIds(nowMs);
	return namedParameters(text, {
		wallet: order.wallet,
		firstSwapId,
		swapId: fromSwapKey(order.swapKey),
		inputToken: order.inputToken,
		originChainId: String(order.originChainId),
		countedOrderIds: countedOrders.map((orderId) => Buffer.from(hexToBytes(orderId))),
		accountId,
		openPriority: jobPriority.open,
		lastSwapId,
	});
}
