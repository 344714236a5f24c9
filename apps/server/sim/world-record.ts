import { type Hex, hexToBytes } from "viem";
import { parseRawTransaction } from "./evm/parse-raw-transaction.ts";
import type { ChainName } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimChain } from "./sim-chain.ts";
import type { SimDatabase } from "./sim-database.ts";

/** Observations made while a world runs, which neither the books nor a chain contain afterwards. */
export type WorldRecord = {
	sent: SentTransaction[];
	/** An entry for each change of a chain's newest final block. */
	finality: { chain: ChainName; atMs: number; finalized: number }[];
	/** The times at which the database was restored. */
	restoredAtMs: number[];
	/** The chains on which somebody else has used a relayer's key. */
	foreignOn: Set<number>;
	/** An entry for each change of the number of nonces that a sender has spent. */
	spent: { chain: ChainName; from: Hex; atMs: number; count: number }[];
};

/** A relayer's transaction on an EVM chain, recorded each time that a worker gave it to a node. */
export type SentTransaction = {
	atMs: number;
	chain: ChainName;
	process: string;
	hash: Hex;
	from: Hex;
	nonce: number;
	to: Hex | undefined;
	data: Hex;
	/** The chain's newest block at that moment. */
	blockNumber: number;
	/**
	 * The number of the sender's nonces that were spent when the database was last restored, and at every moment since.
	 * Every reader could have read that, except through a stale node. A nonce whose block was dropped meanwhile could be
	 * free for a while, even if it is in a block again.
	 */
	spentNonce: number;
	/**
	 * The number of transactions that the books had for its nonce before it was signed; undefined if it is not in the
	 * books.
	 */
	attempt: number | undefined;
	/** True if it was in the books when it was sent. */
	isWritten: boolean;
};

export function createWorldRecord({
	scheduler,
	database,
}: {
	scheduler: Pick<Scheduler, "nowMs" | "during">;
	database: Pick<SimDatabase, "onlook">;
}): {
	record: WorldRecord;
	noteSent: (about: {
		name: ChainName;
		chain: SimChain;
		process: string;
		params: readonly unknown[];
	}) => void;
	noteBlock: (name: ChainName, chain: SimChain) => void;
	noteReorg: () => void;
	noteRestore: () => void;
} {
	const { nowMs } = scheduler;
	const record: WorldRecord = { sent: [], finality: [], restoredAtMs: [], foreignOn: new Set(), spent: [] };
	const finalized = new Map<ChainName, number>();
	/** All senders, each with the lowest number of its nonces that were spent at any moment since the last restore. */
	const senders = new Map<
		string,
		{ name: ChainName; from: Hex; chain: SimChain; spent: number | undefined }
	>();
	const countOf = ({ from, chain }: { from: Hex; chain: SimChain }) =>
		Number(chain.request("eth_getTransactionCount", [from, "latest"]));
	const counts = new Map<string, number>();
	const countSpent = () => {
		for (const [name, sender] of senders) {
			const count = countOf(sender);
			if (sender.spent !== undefined) sender.spent = Math.min(sender.spent, count);
			if (counts.get(name) === count) continue;
			counts.set(name, count);
			record.spent.push({ chain: sender.name, from: sender.from, atMs: nowMs(), count });
		}
	};
	return {
		record,
		noteSent: ({ name, chain, process, params: [raw] }) => {
			const transaction = name === "solana" ? undefined : parseRawTransaction(raw as Hex);
			if (!transaction) return;
			const { hash, from, nonce, to, data } = transaction;
			const sender = senders.get(`${name} ${from}`) ?? { name, from, chain, spent: undefined };
			senders.set(`${name} ${from}`, sender);
			const sent: SentTransaction = {
				atMs: nowMs(),
				chain: name,
				process,
				hash,
				from,
				nonce,
				to,
				data,
				blockNumber: chain.heights().latest,
				spentNonce: sender.spent ?? 0,
				attempt: undefined,
				isWritten: true,
			};
			record.sent.push(sent);
			const journalled = database.onlook("select attempt from lane_transactions where hash = $1", [
				hexToBytes(hash),
			]);
			void scheduler.during(journalled).then(({ rows, rowCount }) => {
				sent.isWritten = rowCount === 1;
				sent.attempt = (rows[0] as { attempt: number } | undefined)?.attempt;
			});
		},
		noteBlock: (name, chain) => {
			countSpent();
			const heights = chain.heights();
			if (finalized.get(name) === heights.finalized) return;
			finalized.set(name, heights.finalized);
			record.finality.push({ chain: name, atMs: nowMs(), finalized: heights.finalized });
		},
		noteReorg: countSpent,
		noteRestore: () => {
			record.restoredAtMs.push(nowMs());
			for (const sender of senders.values()) sender.spent = countOf(sender);
		},
	};
}
