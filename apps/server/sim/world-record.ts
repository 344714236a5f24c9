import { type Hex, hexToBytes, toHex } from "viem";
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
	 * How many of its sender's nonces were spent before the database was last set back: nobody who asked since could have
	 * missed that, unless by a node that is behind.
	 */
	spentNonce: number;
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
	noteRestore: () => void;
} {
	const { nowMs } = scheduler;
	const record: WorldRecord = { sent: [], finality: [], restoredAtMs: [] };
	const finalized = new Map<ChainName, number>();
	const chains = new Map<ChainName, SimChain>();
	const latestAtRestore = new Map<ChainName, number>();
	return {
		record,
		noteSent: ({ name, chain, process, params: [raw] }) => {
			const transaction = name === "solana" ? undefined : parseRawTransaction(raw as Hex);
			if (!transaction) return;
			const { hash, from, nonce, to, data } = transaction;
			const restored = latestAtRestore.get(name);
			const spentNonce =
				restored === undefined
					? 0
					: Number(chain.request("eth_getTransactionCount", [from, toHex(restored)]));
			const sent = {
				atMs: nowMs(),
				chain: name,
				process,
				hash,
				from,
				nonce,
				to,
				data,
				spentNonce,
				isWritten: true,
			};
			record.sent.push(sent);
			const journalled = database.onlook("select from lane_transactions where hash = $1", [hexToBytes(hash)]);
			void scheduler.during(journalled).then(({ rowCount }) => {
				sent.isWritten = rowCount === 1;
			});
		},
		noteBlock: (name, chain) => {
			chains.set(name, chain);
			const heights = chain.heights();
			if (finalized.get(name) === heights.finalized) return;
			finalized.set(name, heights.finalized);
			record.finality.push({ chain: name, atMs: nowMs(), finalized: heights.finalized });
		},
		noteRestore: () => {
			record.restoredAtMs.push(nowMs());
			for (const [name, chain] of chains) latestAtRestore.set(name, chain.heights().latest);
		},
	};
}
