import { zeroAddress } from "viem";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-account-nonces.ts";
import { moveRemoval, nextRemoval } from "../../job/delegation-removals.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { firstCancel, signCancel } from "./sign-cancel.ts";
import { freshFees } from "./transaction-fees.ts";

/**
 * Signs and journals a transaction that removes the delegation of a wallet which asked for it. To the lane it is a cancel
 * that carries an authorization: it does no job, and if it is stuck, a plain cancel takes its place. A removal that is
 * lost in this way, or by a crash in here, is not repeated: the wallet is still delegated, and its owner asks again.
 */
export async function signRemoval(lane: Lane, head: ChainHead): Promise<LaneTransaction | undefined> {
	const { pool, id, chain, log } = lane;
	const removal = await nextRemoval(pool, id);
	if (!removal) return undefined;
	const { wallet, authorization, nonce } = removal;
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
		return undefined;
	}
	const fees = freshFees(lane, head);
	const raw = await signCancel(lane, { nonce, fees, authorization });
	const transaction = firstCancel(raw, { nonce, fees });
	if (!(await moveRemoval(pool, removal.id, { from: "queued", to: "sent" }))) return undefined;
	// No job is leased for it, so that any number names the lease.
	const { outcome } = await journalLease(pool, id, {
		lease: 0,
		nonce,
		outcomes: [],
		transactions: [transaction],
	});
	if (outcome === "journalled") return transaction;
	await moveRemoval(pool, removal.id, { from: "sent", to: "queued" });
	return undefined;
}
