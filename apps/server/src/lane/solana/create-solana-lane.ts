import { toSolanaWord } from "@geoswap/protocol";
import type { Handler } from "../../durable/engine.ts";
import { laneKey } from "../../durable/poke-targets.ts";
import { raiseNonce } from "../../job/journal/lane-transactions.ts";
import { createLeaseTime, loadLaneState } from "../load-lane-state.ts";
import { traceTransaction } from "../trace-transaction.ts";
import { wakeSwaps } from "../wake-swaps.ts";
import { pushOrphans } from "./push-orphans.ts";
import { offerAll, pushSolanaTransactions } from "./push-solana-transactions.ts";
import { signSolanaJobs } from "./sign-solana-jobs.ts";
import type { SolanaLane, SolanaLaneDeps } from "./solana-lane.ts";
import { sweepRents } from "./sweep-rents.ts";
import { type FeePayerFunds, watchFeePayer } from "./watch-fee-payer.ts";

/** Number of attempts, if the signed transactions were discarded, before the rest is left to the next poke. */
const maxRuns = 5;

/**
 * Creates the lanes of Solana, one for each fee payer, so that no two runs sign for the same job, or send for the same
 * payer, concurrently (except one that the engine gave up). A run sends transactions that are not known to have landed,
 * leases jobs, each for a separate transaction, and waits for nothing. Its state is in the store, so it can be repeated
 * from any point.
 */
export function createSolanaLane(deps: SolanaLaneDeps): Handler {
	const { chainId } = deps.chain;
	const lanes = new Map<string, SolanaLane & { readFunds: () => Promise<FeePayerFunds> }>(
		deps.keys.feePayers.map((feePayer) => {
			const id = { chainId, relayer: toSolanaWord(feePayer.address) };
			const lane = { ...deps, id, feePayer, leaseTime: createLeaseTime() };
			return [laneKey(id), { ...lane, readFunds: watchFeePayer(lane) }];
		}),
	);

	async function run({
		readFunds,
		...lane
	}: SolanaLane & { readFunds: () => Promise<FeePayerFunds> }): Promise<void> {
		for (let run = 0; run < maxRuns; run++) {
			const view = await loadLaneState(lane.pool, lane.id);
			if (!view) return;
			const { head, nextNonce = 0 } = view;
			if (view.nextNonce === undefined) await raiseNonce(lane.pool, lane.id, nextNonce);
			const [lost, orphaned] = await Promise.all([
				pushSolanaTransactions(lane, view),
				pushOrphans(lane, head),
			]);
			const requeued = [...lost.flatMap(({ jobs }) => jobs.map(({ swapId }) => swapId)), ...orphaned];
			await wakeSwaps(lane, requeued);
			const open = view.open.filter((transaction) => !lost.includes(transaction));
			const hasWork = view.hasWork || requeued.length > 0;
			const startMs = lane.nowMs();
			const { found, transactions, refused, isUndone } = await signSolanaJobs(lane, {
				head,
				open,
				nextNonce,
				hasWork,
				readFunds,
			});
			const signed = { name: "transaction signed", startMs } as const;
			for (const transaction of transactions) void traceTransaction(lane, transaction, signed);
			await Promise.all([wakeSwaps(lane, refused), offerAll(lane, { transactions, head })]);
			// No swap waits for rents, so they are fetched only if there is no other work.
			if (!found) {
				await offerAll(lane, { transactions: await sweepRents(lane, { open, nextNonce }), head });
			}
			if (!isUndone) return;
		}
	}

	return async (key) => {
		const lane = lanes.get(key);
		if (!lane) {
			deps.log.warn({ lane: key }, "poked a lane whose fee payer has no key here");
			return;
		}
		await run(lane);
	};
}
