import { type Amount, addressOfWord, toSolanaWord } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import type { Database } from "../../database/database.ts";
import { lockOutflows, readOutflows, readPaymentsUnderWay } from "../../money/stock/outflows.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Job } from "../../swap/facts/job.ts";
import type { SolanaLane } from "./solana-lane.ts";

export type Payout = { job: Job<"fill">; amount: Amount };

/** Returns whether any of the payouts is of a token with a cap on what may leave the vault in an hour. */
export function isAnyCapped(lane: SolanaLane, payouts: readonly Payout[]): boolean {
	const caps = capsOf(lane);
	return payouts.some(({ job }) => caps.has(tokenOf(job)));
}

/**
 * Returns the payouts beyond the cap on what may leave the vault in an hour; a vault on an EVM chain refuses them
 * itself. Counts earlier payouts of the last hour, signed payouts that have not landed yet, and the payouts before it
 * in the list. Only one lane counts at a time: it holds a lock until its signed transactions are in the journal.
 */
export async function payoutsAboveCap(
	db: Database,
	lane: SolanaLane,
	{ payouts, head: { timestamp } }: { payouts: readonly Payout[]; head: ChainHead },
): Promise<Set<Job>> {
	const { chainId } = lane.id;
	const caps = capsOf(lane);
	await lockOutflows(db, chainId);
	// In this order, a payout that the follower sees land between the two reads is counted twice; otherwise, never.
	const underWay = await readPaymentsUnderWay(db, chainId);
	const left = await readOutflows(db, { chainId, timestamp });
	const taken = new Map(
		[...caps.keys()].map((token) => [token, (left.get(token) ?? 0n) + (underWay.get(token) ?? 0n)]),
	);
	const above = payouts.filter(({ job, amount }) => {
		const token = tokenOf(job);
		const cap = caps.get(token);
		if (cap === undefined) return false;
		const sum = (taken.get(token) ?? 0n) + amount;
		if (sum > cap) return true;
		taken.set(token, sum);
		return false;
	});
	for (const { job } of above) {
		const { swapId, orderId, kind } = job;
		lane.metrics?.paymentStopped(chainId, "above-cap");
		lane.log.error(
			{ swapId, chainId, orderId, kind, problem: "above-cap" },
			"the payment is not sent: it would exceed the vault's hourly cap",
		);
	}
	return new Set(above.map(({ job }) => job));
}

function capsOf({ chain: { deployment }, policy: { outflowCaps } }: SolanaLane): Map<Hex, bigint> {
	return new Map(
		deployment.assets.flatMap(({ symbol, address, decimals }): [Hex, bigint][] => {
			const cap = outflowCaps[symbol];
			return cap === undefined ? [] : [[toSolanaWord(address), parseUnits(cap, decimals)]];
		}),
	);
}

function tokenOf({ chainId, order }: Job<"fill">): Hex {
	return addressOfWord(chainId, order.outputToken);
}
