import { zeroAddress } from "viem";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-wallet.ts";
import { moveRemoval, nextRemoval } from "../../job/delegation-removals.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { firstCancel, signCancel, signRevocation } from "./sign-cancel.ts";
import { freshFees } from "./transaction-fees.ts";

/**
 * Signs and journals the transactions that remove a wallet's delegation at its request: one that revokes its mandates,
 * and with the next nonce one that carries the authorization, which is applied before anything else in its transaction.
 * The lane treats them as cancels. They do no job, and if one is stuck, a plain cancel takes its place. A removal that
 * is lost in this way, or by a crash in this function, is not repeated. The wallet's owner finds that on the chain, and
 * requests it again.
 */
export async function signRemoval(lane: Lane, head: ChainHead): Promise<LaneTransaction[]> {
	const { pool, id, chain, log } = lane;
	const removal = await nextRemoval(pool, id);
	if (!removal) return [];
	const { wallet, authorization, revocation, nonce } = removal;
	const nonces = await readAccountNonces(chain, wallet);
	const problem = authorizationProblem(authorization, {
		chainId: id.chainId,
		wallet,
		target: zeroAddress,
		nonces,
	});
	if (problem) {
		// The chain would take the gas and do nothing.
		await moveRemoval(pool, removal.id, { from: "queued", to: "refused" });
		log.info({ ...id, wallet, reason: problem.error.message }, "a delegation's removal is not sent");
		return [];
	}
	const fees = freshFees(lane, head);
	const transactions: LaneTransaction[] = [];
	if (revocation) {
		const raw = await signRevocation(lane, { nonce, fees, wallet, proof: revocation });
		transactions.push(firstCancel(raw, { nonce, fees }));
	}
	const last = nonce + transactions.length;
	const raw = await signCancel(lane, { nonce: last, fees, authorization });
	transactions.push(firstCancel(raw, { nonce: last, fees }));
	if (!(await moveRemoval(pool, removal.id, { from: "queued", to: "sent" }))) return [];
	// No job is leased for it, so any number may name the lease.
	const { outcome } = await journalLease(pool, id, {
		lease: 0,
		nonce,
		outcomes: [],
		transactions,
	});
	if (outcome === "journalled") return transactions;
	await moveRemoval(pool, removal.id, { from: "sent", to: "queued" });
	return [];
}
