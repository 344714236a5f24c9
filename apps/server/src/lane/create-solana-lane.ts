import { toSolanaWord } from "@geoswap/protocol";
import type { ObjectExecution } from "../durable/durable.ts";
import { raiseNonce } from "../store/lane-transactions.ts";
import { readChainHead } from "../store/read-chain-head.ts";
import { closeMarkers } from "./close-markers.ts";
import { laneKey } from "./lane-key.ts";
import { pushOrphans } from "./push-orphans.ts";
import { offerAll, pushSolanaTransactions } from "./push-solana-transactions.ts";
import { signSolanaJobs } from "./sign-solana-jobs.ts";
import type { SolanaLane, SolanaLaneDeps } from "./solana-lane.ts";
import { traceTransaction } from "./trace-transaction.ts";
import { wakeSwaps } from "./wake-swaps.ts";
import { type FeePayerFunds, watchFeePayer } from "./watch-fee-payer.ts";

/**
 * The lanes of Solana: one for each fee payer, so that no two runs sign for the same job, nor, but for one that the
 * engine gave up, send for the same payer at once. A run sends what was not seen to land, takes jobs, each for a transaction of its own, and waits for nothing. All
 * it knows is in the store, so it can be repeated from any point.
 */
export function createSolanaLane(deps: SolanaLaneDeps): ObjectExecution {
	const { chainId } = deps.chain;
	const lanes = new Map<string, SolanaLane & { readFunds: () => Promise<FeePayerFunds> }>(
		deps.keys.feePayers.map((feePayer) => {
			const id = { chainId, relayer: toSolanaWord(feePayer.address) };
			const lane = { ...deps, id, feePayer };
			return [laneKey(id), { ...lane, readFunds: watchFeePayer(lane) }];
		}),
	);

	async function pump({
		readFunds,
		...lane
	}: SolanaLane & { readFunds: () => Promise<FeePayerFunds> }): Promise<void> {
		const head = await readChainHead(lane.pool, chainId);
		if (!head) return;
		await raiseNonce(lane.pool, lane.id, 0);
		const pushed = await Promise.all([pushSolanaTransactions(lane, head), pushOrphans(lane, head)]);
		await wakeSwaps(lane, pushed.flat());
		const startMs = lane.nowMs();
		const { found, transactions, refused } = await signSolanaJobs(lane, { head, readFunds });
		const signed = { name: "transaction signed", startMs } as const;
		for (const transaction of transactions) void traceTransaction(lane, transaction, signed);
		await Promise.all([wakeSwaps(lane, refused), offerAll(lane, { transactions, head })]);
		// Nobody waits for what markers hold.
		if (!found) await offerAll(lane, { transactions: await closeMarkers(lane, head), head });
	}

	return async (durable, key) => {
		const lane = lanes.get(key);
		if (!lane) {
			deps.log.warn({ lane: key }, "poked a lane whose fee payer has no key here");
			return;
		}
		await durable.step("jobs-taken", () => pump(lane));
	};
}
