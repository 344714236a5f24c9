import type { Hex } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { type Landed, readLanded } from "../../chain/solana/read/read-landed.ts";
import { askStatuses, type SignatureStatus } from "../../chain/solana/read/read-statuses.ts";
import { readUnknown } from "../../chain/solana/read/read-unknown.ts";
import { FinalityBrokenError } from "../evm/undo-blocks.ts";
import type { WatchedTransaction } from "./watched-transactions.ts";

/** Transactions that are fetched concurrently. */
const fetchesAtOnce = 16;

export type SeenTransactions = {
	/** Transactions that landed, or moved to another slot, since the last run. */
	landed: Landed[];
	/** Transactions that were on the chain in these slots, and no longer are. */
	vanished: { hash: Hex; slot: number }[];
	/** Transactions that can no longer land. */
	expired: Hex[];
	/** Transactions that are on the chain, and that the node did not return. Their effects are not known yet. */
	unread: { hash: Hex; slot: number; err: unknown }[];
	/** True if all watched transactions up to the final slot are known, and are final. */
	isComplete: boolean;
};

/**
 * Reads what happened to transactions. Must be called after the chain's slots were read, because a node at those slots
 * has everything that was on the chain by then. A transaction that another node does not have is not expired, and not
 * gone.
 */
export async function readTransactionOutcomes({
	chain,
	watched,
	witness,
	finalized,
	confirmed,
}: {
	chain: SolanaChain;
	watched: readonly WatchedTransaction[];
	/** A final transaction. If it is gone, nothing that was final is certain. */
	witness: { hash: Hex; slot: number } | undefined;
	finalized: { slot: number; height: number };
	confirmed: { slot: number; height: number };
}): Promise<SeenTransactions> {
	const asked = [...watched.map(({ hash }) => hash), ...(witness ? [witness.hash] : [])];
	const answers = await askStatuses(chain, asked);
	const isComplete = answers.every(({ asOf }) => asOf >= finalized.slot);
	const seen: SeenTransactions = { landed: [], vanished: [], expired: [], unread: [], isComplete };
	if (witness) await expectThere(witness, answers.at(-1)?.status?.slot);

	const missed: WatchedTransaction[] = [];
	const changed: { transaction: WatchedTransaction; status: SignatureStatus | undefined }[] = [];
	for (const [i, transaction] of watched.entries()) {
		const { status, slot } = answers[i] ?? {};
		if (status) {
			if (status.slot === transaction.slot) expectFinal(status);
			else changed.push({ transaction, status });
			continue;
		}
		if (slot !== undefined) expectFinal({ slot, isFinal: false });
		if (transaction.slot !== undefined || isOver(transaction)) missed.push(transaction);
	}
	const unknown = await readUnknown(chain, missed, confirmed);
	for (const transaction of missed) {
		const { hash, slot } = transaction;
		if (!unknown.has(hash)) changed.push({ transaction, status: undefined });
		else if (slot === undefined) seen.expired.push(hash);
		else vanish({ hash, slot });
	}
	for (let i = 0; i < changed.length; i += fetchesAtOnce) {
		await Promise.all(changed.slice(i, i + fetchesAtOnce).map(fetchChanged));
	}
	return seen;

	/**
	 * Fetches a transaction that is new, has moved, or has no status, since a status alone is not enough for any of
	 * these.
	 */
	async function fetchChanged({ transaction, status }: (typeof changed)[number]): Promise<void> {
		const { hash, slot } = transaction;
		const isLate = isOver(transaction);
		const landed = await readLanded(chain, hash, isLate ? "finalized" : "confirmed").catch((err: unknown) => {
			// Without a status it may be in any slot.
			seen.unread.push({ hash, slot: status?.slot ?? finalized.slot, err });
			if (!status) seen.isComplete = false;
			return undefined;
		});
		if (!landed || landed.slot === slot) {
			// The node does not return yet what the transaction did, or whether it is final.
			for (const place of [slot, status?.slot]) {
				if (place !== undefined) expectFinal({ slot: place, isFinal: false });
			}
			return;
		}
		if (slot !== undefined) vanish({ hash, slot });
		seen.landed.push(landed);
		expectFinal({ slot: landed.slot, isFinal: status?.isFinal ?? isLate });
	}

	/**
	 * Records a dropped transaction. It was relied on, so nothing after it is final until it is certain what is there.
	 */
	function vanish({ hash, slot }: { hash: Hex; slot: number }): void {
		seen.vanished.push({ hash, slot });
		expectFinal({ slot, isFinal: false });
	}

	/** Returns whether a transaction was not found and can no longer land, and was not given up yet. */
	function isOver({ slot, lastValidHeight = finalized.height, isGivenUp }: WatchedTransaction): boolean {
		return slot === undefined && !isGivenUp && lastValidHeight < finalized.height;
	}

	function expectFinal({ slot, isFinal }: { slot: number; isFinal: boolean }): void {
		if (slot <= finalized.slot && !isFinal) seen.isComplete = false;
	}

	async function expectThere({ hash, slot }: { hash: Hex; slot: number }, now: number | undefined) {
		if (now === slot) return;
		const landed = await readLanded(chain, hash);
		if (landed?.slot === slot) return;
		const isGone = landed || (await readUnknown(chain, [{ hash, slot }], confirmed)).has(hash);
		if (isGone) throw new FinalityBrokenError(chain.chainId, slot);
		seen.isComplete = false;
	}
}
