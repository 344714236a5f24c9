import { toSolanaWord } from "@geoswap/protocol";
import type { ObjectExecution } from "../durable/durable.ts";
import { raiseNonce } from "../store/lane-transactions.ts";
import { readChainHead } from "../store/read-chain-head.ts";
import { closeMarkers } from "./close-markers.ts";
import { laneKey } from "./lane-key.ts";
import { offerAll, pushSolanaTransactions } from "./push-solana-transactions.ts";
import { signSolanaJobs } from "./sign-solana-jobs.ts";
import type { SolanaLane, SolanaLaneDeps } from "./solana-lane.ts";
import { wakeSwaps } from "./wake-swaps.ts";
import { watchFeePayer } from "./watch-fee-payer.ts";

/**
 * The lanes of Solana: one for each fee payer, so that no two runs sign for the same job or send for the same payer at
 * once. A run sends what was not seen to land, takes jobs, each for a transaction of its own, and waits for nothing. All
 * it knows is in the store, so it can be repeated from any point.
 */
export function createSolanaLane(deps: SolanaLaneDeps): ObjectExecution {
	const { chainId } = deps.chain;
	const lanes = new Map<string, SolanaLane & { isPoor: () => Promise<boolean> }>(
		deps.keys.feePayers.map((feePayer) => {
			const id = { chainId, relayer: toSolanaWord(feePayer.address) };
			const lane = { ...deps, id, feePayer };
			return [laneKey(id), { ...lane, isPoor: watchFeePayer(lane) }];
		}),
	);

	async function pump({ isPoor, ...lane }: SolanaLane & { isPoor: () => Promise<boolean> }): Promise<void> {
		const head = await readChainHead(lane.pool, chainId);
		if (!head) return;
		await raiseNonce(lane.pool, lane.id, 0);
		await wakeSwaps(lane, await pushSolanaTransactions(lane, head));
		const { found, transactions, refused } = await signSolanaJobs(lane, { head, isPoor });
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
