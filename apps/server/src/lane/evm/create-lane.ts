import { bytesToHex, hexToBytes } from "viem";
import type { Handler } from "../../durable/engine.ts";
import { laneKey } from "../../durable/poke-targets.ts";
import { endLaneTransaction, openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import { createLeaseTime, loadLaneState } from "../load-lane-state.ts";
import { traceTransaction } from "../trace-transaction.ts";
import { wakeSwaps } from "../wake-swaps.ts";
import type { Lane, LaneChain, LaneDeps } from "./lane.ts";
import { broadcast, findStuck, pushTransactions, readSpentNonces } from "./push-transactions.ts";
import { signMove } from "./sign-move.ts";
import { catchUpNonce, signNextBundle } from "./sign-next-bundle.ts";
import { signRemoval } from "./sign-removal.ts";

/** The maximum number of transactions in flight. Nodes keep about this many pending ones of an account. */
const maxUnderWay = 16;
/** Places among these that are kept for releases, because a release that comes too late is a double payment. */
const placesForReleases = 4;
/** Number of discarded bundles after which a run leaves the rest of the jobs to the next run. */
const maxUndone = 5;

/**
 * Creates the lanes of a chain, each the only writer of its relayer's nonces. A run sends stuck transactions, then
 * takes jobs until none is left, and waits for nothing. All its state is in the store, so it can be repeated from any
 * point.
 */
export function createLane({
	chain,
	policy,
	accounts: ofRelayers,
	treasurer,
	...deps
}: LaneDeps & LaneChain): Handler {
	const accounts = treasurer ? [...ofRelayers, treasurer] : ofRelayers;
	const lanes = new Map(
		accounts.map((account): [string, Lane] => {
			const id = { chainId: chain.chainId, relayer: account.address };
			return [laneKey(id), { ...deps, id, chain, policy, account, leaseTime: createLeaseTime() }];
		}),
	);
	const relayers = accounts.map(({ address }) => address);
	// The lanes whose nonce this process has read from the chain. It is read again when a nonce turns out to be spent.
	const knowsNonce = new Set<string>();

	async function run(key: string, lane: Lane): Promise<void> {
		const view = await loadLaneState(lane.pool, lane.id, { relayers });
		if (!view) return;
		const { head, hasWork, hasRemovals } = view;
		if (!knowsNonce.has(key) || view.nextNonce === undefined) {
			await catchUpNonce(lane);
			knowsNonce.add(key);
		}
		const pushed = await pushTransactions(lane, view);
		let { underWay } = pushed;
		if (lane.account === treasurer) {
			while (underWay !== undefined && underWay < maxUnderWay) {
				const transaction = await signMove(lane, head);
				if (!transaction || (await broadcast(lane, { transaction, head, isNew: true })) !== "sent") return;
				underWay++;
			}
			return;
		}
		const isGivenBack = view.hasOrphans && (await endOrphans(lane, { relayers, head }));
		let mayHaveWork = hasWork || pushed.isRequeued || isGivenBack;
		let undone = 0;
		while (mayHaveWork && underWay !== undefined && underWay < maxUnderWay && undone < maxUndone) {
			const startMs = lane.nowMs();
			const releasesOnly = underWay >= maxUnderWay - placesForReleases;
			const { hasMore, transaction, refused, isUndone } = await signNextBundle(lane, head, { releasesOnly });
			mayHaveWork = hasMore;
			if (isUndone) undone++;
			if (transaction) void traceTransaction(lane, transaction, { name: "transaction signed", startMs });
			await wakeSwaps(lane, refused);
			if (!transaction) continue;
			if ((await broadcast(lane, { transaction, head, isNew: true })) !== "sent") return;
			underWay++;
		}
		if (!hasRemovals || underWay === undefined || underWay >= maxUnderWay - placesForReleases) return;
		for (const transaction of await signRemoval(lane, head)) {
			if ((await broadcast(lane, { transaction, head, isNew: true })) !== "sent") return;
		}
	}

	return async (key) => {
		const lane = lanes.get(key);
		if (!lane) {
			deps.log.warn({ lane: key }, "poked a lane whose relayer has no key here");
			return;
		}
		await run(key, lane);
	};
}

/**
 * Ends the transactions of relayers that have no key in this process, if other transactions have permanently spent
 * their nonces. After a theft the key is taken out, and the thief may have used the nonces of a release. The jobs go
 * back to the queue. Any lane of the chain does this. Returns whether jobs went back.
 */
async function endOrphans(
	lane: Lane,
	{ relayers, head }: { relayers: readonly Lane["id"]["relayer"][]; head: ChainHead },
): Promise<boolean> {
	const { pool, chain, policy, log } = lane;
	const { chainId } = chain;
	const { rows } = await pool.query<{ relayer: Buffer }>(
		`select distinct relayer from lane_transactions
		where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($2)`,
		[chainId, relayers.map((relayer) => hexToBytes(relayer))],
	);
	let isRequeued = false;
	for (const { relayer } of rows) {
		const id = { chainId, relayer: bytesToHex(relayer) };
		const open = await openLaneTransactions(pool, id);
		const stuck = findStuck({ policy }, { open, head });
		if (stuck.length === 0) continue;
		const spent = await readSpentNonces({ chain, id }, { stuck, head });
		for (const { nonce, hash } of stuck.filter((transaction) => transaction.nonce < spent.finally)) {
			if (!(await endLaneTransaction(pool, id, nonce))) continue;
			isRequeued = true;
			log.error({ ...id, nonce, hash }, "nonce was spent by another transaction");
		}
	}
	return isRequeued;
}
