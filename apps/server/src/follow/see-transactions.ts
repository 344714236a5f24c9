import type { Hex } from "viem";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { type Landed, readLanded } from "../chain/solana/read-landed.ts";
import { readStatuses, type SignatureStatus } from "../chain/solana/read-statuses.ts";
import type { WatchedTransaction } from "../store/watched-transactions.ts";
import { FinalityBrokenError } from "./undo-fork.ts";

/** Transactions that are fetched at once. */
const fetchesAtOnce = 16;

export type SeenTransactions = {
	/** On the chain since they were last seen. */
	landed: Landed[];
	/** Were there, in these slots, and are no more. */
	vanished: { hash: Hex; slot: number }[];
	/** Can land no more. */
	expired: Hex[];
	/** Whether everything of ours up to the final slot is known, and is final. */
	isComplete: boolean;
};

/**
 * What became of transactions. To be asked after the chain said what is final: so what is not seen here, and can land no
 * more by then, never landed.
 */
export async function seeTransactions({
	chain,
	watched,
	witness,
	finalized,
}: {
	chain: SolanaChain;
	watched: readonly WatchedTransaction[];
	/** One that is final: if that is gone, nothing that was final is certain. */
	witness: { hash: Hex; slot: number } | undefined;
	finalized: { slot: number; height: number };
}): Promise<SeenTransactions> {
	const asked = [...watched.map(({ hash }) => hash), ...(witness ? [witness.hash] : [])];
	const statuses = await readStatuses(chain, asked);
	if (witness) await expectThere(witness, statuses.at(-1)?.slot);

	const seen: SeenTransactions = { landed: [], vanished: [], expired: [], isComplete: true };
	const changed: { transaction: WatchedTransaction; status: SignatureStatus | undefined }[] = [];
	for (const [i, transaction] of watched.entries()) {
		const status = statuses[i];
		if (status && status.slot === transaction.slot) expectFinal(status);
		else if (status || transaction.slot !== undefined || isExpired(transaction)) {
			changed.push({ transaction, status });
		}
	}
	for (let i = 0; i < changed.length; i += fetchesAtOnce) {
		await Promise.all(changed.slice(i, i + fetchesAtOnce).map(fetchChanged));
	}
	return seen;

	/** New, or gone: the statuses' word alone is not enough for either. */
	async function fetchChanged({ transaction, status }: (typeof changed)[number]): Promise<void> {
		const { hash, slot } = transaction;
		const isOver = slot === undefined && isExpired(transaction);
		const landed = await readLanded(chain, hash, isOver ? "finalized" : "confirmed");
		if (landed && landed.slot === slot) return expectFinal({ slot, isFinal: false });
		if (slot !== undefined) seen.vanished.push({ hash, slot });
		if (landed) {
			seen.landed.push(landed);
			expectFinal({ slot: landed.slot, isFinal: status?.isFinal ?? isOver });
		} else if (status) {
			// The node cannot tell yet what it did.
			expectFinal({ slot: status.slot, isFinal: false });
		} else if (isExpired(transaction)) seen.expired.push(hash);
	}

	function isExpired({ lastValidHeight }: WatchedTransaction): boolean {
		return lastValidHeight !== undefined && lastValidHeight < finalized.height;
	}

	function expectFinal({ slot, isFinal }: { slot: number; isFinal: boolean }): void {
		if (slot <= finalized.slot && !isFinal) seen.isComplete = false;
	}

	async function expectThere({ hash, slot }: { hash: Hex; slot: number }, now: number | undefined) {
		if (now === slot) return;
		const landed = await readLanded(chain, hash);
		if (landed?.slot !== slot) throw new FinalityBrokenError(chain.chainId, slot);
	}
}
