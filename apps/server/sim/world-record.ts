import { type Hex, hexToBytes } from "viem";
import { parseRawTransaction } from "./evm/parse-raw-transaction.ts";
import type { ChainName } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimChain } from "./sim-chain.ts";
import type { SimDatabase } from "./sim-database.ts";

/** What an onlooker writes down while a world runs: what no books and no chain can tell afterwards. */
export type WorldRecord = {
	sent: SentTransaction[];
	/** Whenever a chain's newest final block is another. */
	finality: { chain: ChainName; atMs: number; finalized: number }[];
	/** When the database was set back. */
	restoredAtMs: number[];
	/** How many nonces of each sender are spent, whenever it is another number. */
	spent: { chain: ChainName; from: Hex; atMs: number; count: number }[];
};

/** A relayer's transaction on an EVM chain, each time that a worker gave it to a node. */
export type SentTransaction = {
	atMs: number;
	chain: ChainName;
	process: string;
	hash: Hex;
	from: Hex;
	nonce: number;
	to: Hex | undefined;
	data: Hex;
	/**
	 * How many of its sender's nonces were spent when the database was last set back, and at every moment since: nobody who
	 * asked could have missed that, unless by a node that is behind. What the chain dropped meanwhile could be free for a
	 * while, even where it is in a block again.
	 */
	spentNonce: number;
	/** How many others were signed for its nonce before, as far as the books knew then; undefined where it is not in them. */
	attempt: number | undefined;
	/** Whether it was in the books by then. */
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
	const record: WorldRecord = { sent: [], finality: [], restoredAtMs: [], spent: [] };
	const finalized = new Map<ChainName, number>();
	/** Whoever sent something, and the fewest of his nonces that were spent at any moment since the last restore. */
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
