import { bytesToHex, hexToBytes } from "viem";
import { endLaneTransaction, openLaneTransactions } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { findStuck, readSpentNonces } from "./push-transactions.ts";

/**
 * Ends the transactions of relayers whose keys are not here, if other transactions have spent their nonces for good:
 * after a theft the key is taken out, and the thief may have used the nonces of a release. Their jobs go back to the
 * queue. Any lane of the chain does this. Returns whether jobs went back.
 */
export async function endOrphans(
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
