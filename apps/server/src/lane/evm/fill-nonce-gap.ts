import { insertAttempts, type LaneTransaction, noncesKnown } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { firstCancel, signCancel } from "./sign-cancel.ts";
import { freshFees } from "./transaction-fees.ts";

/** The number of pending transactions that nodes keep of one account. */
const maxAtOnce = 16;

/**
 * Signs cancels for nonces below ours that no transaction of ours spends: a restored store has lost the transactions
 * that spent them, and then the chain dropped those. Transactions with higher nonces would wait forever.
 */
export async function fillNonceGap(
	lane: Lane,
	{ from, to, head }: { /** The chain's next nonce. */ from: number; to: number; head: ChainHead },
): Promise<LaneTransaction[]> {
	if (from >= to) return [];
	const { id, pool, log } = lane;
	const fees = freshFees(lane, head);
	// A node that is behind returns a nonce that is spent already: the store knows the transaction that spent it.
	const known = await noncesKnown(pool, id, { from, to });
	const cancels: LaneTransaction[] = [];
	for (let nonce = from; nonce < to && cancels.length < maxAtOnce; nonce++) {
		if (known.has(nonce)) continue;
		const raw = await signCancel(lane, { nonce, fees });
		cancels.push(firstCancel(raw, { nonce, fees }));
	}
	if (cancels.length === 0) return [];
	const inserted = await insertAttempts(pool, id, cancels);
	log.warn({ ...id, nonces: inserted.map(({ nonce }) => nonce) }, "unused nonces are cancelled");
	return inserted;
}
