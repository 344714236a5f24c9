import type { ObjectExecution } from "../durable/durable.ts";
import { raiseNonce } from "../store/lane-transactions.ts";
import { readChainHead } from "../store/read-chain-head.ts";
import type { Lane, LaneChain, LaneDeps } from "./lane.ts";
import { laneKey } from "./lane-key.ts";
import { broadcast, pushTransactions } from "./push-transactions.ts";
import { signNextBundle } from "./sign-next-bundle.ts";
import { traceTransaction } from "./trace-transaction.ts";
import { wakeSwaps } from "./wake-swaps.ts";

/** Nodes keep about so many transactions of one account that wait for a block. */
const maxUnderWay = 16;
/** Of these, places that only releases take: one that comes too late is a double payment. */
const placesForReleases = 4;

/**
 * The lanes: each the only writer of its relayer's nonces. A run sends what is stuck, then takes jobs until none is
 * left, and waits for nothing. All it knows is in the store, so it can be repeated from any point.
 */
export function createLane({
	chains,
	...deps
}: LaneDeps & { chains: readonly LaneChain[] }): ObjectExecution {
	const lanes = new Map<string, Lane>(
		chains.flatMap(({ chain, policy, accounts }) =>
			accounts.map((account): [string, Lane] => {
				const id = { chainId: chain.chainId, relayer: account.address };
				return [laneKey(id), { ...deps, id, chain, policy, account }];
			}),
		),
	);
	// Of these the chain's nonce was asked since this process began: the store may be older than the chain.
	const knowsNonce = new Set<string>();

	async function pump(key: string, lane: Lane): Promise<void> {
		const head = await readChainHead(lane.pool, lane.id.chainId);
		if (!head) return;
		if (!knowsNonce.has(key)) {
			const chainNonce = await lane.chain.client.getTransactionCount({ address: lane.id.relayer });
			await raiseNonce(lane.pool, lane.id, chainNonce);
			knowsNonce.add(key);
		}
		let underWay = await pushTransactions(lane, head);
		while (underWay !== undefined && underWay < maxUnderWay) {
			const startMs = lane.nowMs();
			const releasesOnly = underWay >= maxUnderWay - placesForReleases;
			const { found, transaction, refused } = await signNextBundle(lane, head, { releasesOnly });
			if (transaction) void traceTransaction(lane, transaction, { name: "transaction signed", startMs });
			await wakeSwaps(lane, refused);
			if (!found) return;
			if (!transaction) continue;
			if ((await broadcast(lane, { transaction, head, isNew: true })) !== "sent") return;
			underWay++;
		}
	}

	return async (durable, key) => {
		const lane = lanes.get(key);
		if (!lane) {
			deps.log.warn({ lane: key }, "poked a lane whose relayer has no key here");
			return;
		}
		await durable.step("jobs-taken", () => pump(key, lane));
	};
}
