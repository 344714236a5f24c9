import { readSlots } from "../../chain/solana/read/read-slots.ts";
import { readUnknown } from "../../chain/solana/read/read-unknown.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import {
	endUnseenTransaction,
	type LaneTransaction,
	markBroadcast,
} from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { LaneView } from "../load-lane-state.ts";
import { traceTransaction } from "../trace-transaction.ts";
import type { SolanaLane } from "./solana-lane.ts";

/** About two seconds. Nodes silently drop transactions that they could not forward. */
const offerAgainAfterSlots = 5;

/** Sends again the transactions that have not landed. Gives up and returns those that can no longer land. */
export async function pushSolanaTransactions(
	lane: SolanaLane,
	{ open, head }: Pick<LaneView, "open" | "head">,
): Promise<LaneTransaction[]> {
	const isPast = ({ lastValidHeight }: LaneTransaction) =>
		lastValidHeight !== undefined && head.finalizedHeight > lastValidHeight;
	const past = open.filter(isPast);
	const isDue = ({ state, sentAtBlock }: LaneTransaction) =>
		state === "signed" || head.number - (sentAtBlock ?? 0) >= offerAgainAfterSlots;
	const [lost] = await Promise.all([
		past.length > 0 ? giveUpLost(lane, past) : [],
		offerAll(lane, { transactions: open.filter((one) => !isPast(one) && isDue(one)), head }),
	]);
	return lost;
}

/**
 * Offers the journalled bytes to the chain. Those that it refuses, or does not answer to, are offered again next run.
 */
export async function offerAll(
	lane: SolanaLane,
	{ transactions, head }: { transactions: readonly LaneTransaction[]; head: ChainHead },
): Promise<void> {
	const { id, chain, pool, nowMs, log } = lane;
	const sent = await Promise.all(
		transactions.map(async (transaction): Promise<LaneTransaction[]> => {
			const { nonce, hash, kind, jobs, raw } = transaction;
			const startMs = nowMs();
			// The transaction was found on the chain, so there is nothing to send.
			if (raw === "0x") return [];
			const about = { ...id, nonce, hash, kind, swapIds: jobs.map((job) => job.swapId) };
			try {
				await sendRaw(chain, raw);
			} catch (err) {
				log.warn({ ...about, err }, "the chain does not accept the transaction; it will be sent again");
				return [];
			}
			log.info(about, "transaction sent");
			// It is offered again every two seconds until it has landed, so only the first time is traced.
			if (transaction.state === "signed") {
				void traceTransaction(lane, transaction, { name: "transaction sent", startMs });
			}
			return [transaction];
		}),
	);
	await markBroadcast(pool, id, sent.flat(), { atBlock: head.number });
}

/**
 * Gives up and returns the transactions that never landed, of those whose blockhash has expired at finality. The order
 * of the reads matters, because a node at a final slot past the last valid height has everything that landed before it.
 */
async function giveUpLost(lane: SolanaLane, past: readonly LaneTransaction[]): Promise<LaneTransaction[]> {
	const { chain, log, id } = lane;
	try {
		const { finalized } = await readSlots(chain);
		const dead = past.filter(({ lastValidHeight = finalized.height }) => finalized.height > lastValidHeight);
		const unknown = await readUnknown(chain, dead, finalized);
		const lost = dead.filter(({ hash }) => unknown.has(hash));
		if (lost.length < dead.length) {
			const hashes = dead.flatMap(({ hash }) => (unknown.has(hash) ? [] : [hash]));
			log.warn(
				{ ...id, hashes },
				"expired transactions are kept, because they landed, or the node is behind or lacks history",
			);
		}
		const ended = await Promise.all(lost.map((transaction) => giveUp(lane, transaction)));
		return ended.flat();
	} catch (err) {
		// Nothing is known about them, so nothing is done. The rest of the run does not depend on it.
		log.warn({ ...id, err }, "the node could not be queried about expired transactions");
		return [];
	}
}

async function giveUp(
	{ pool, id, log }: SolanaLane,
	transaction: LaneTransaction,
): Promise<LaneTransaction[]> {
	const { nonce, hash, kind, jobs } = transaction;
	if (!(await endUnseenTransaction(pool, id, nonce))) return [];
	log.warn(
		{ ...id, nonce, hash, kind, swapIds: jobs.map(({ swapId }) => swapId) },
		"transaction never landed",
	);
	return [transaction];
}
