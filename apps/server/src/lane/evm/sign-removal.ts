import { type Hex, keccak256, zeroAddress } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model-of.ts";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-account-nonces.ts";
import { signedAuthorization } from "../../chain/evm/wallet/signed-authorization.ts";
import { moveRemoval, nextRemoval } from "../../job/delegation-removals.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { freshFees } from "./transaction-fees.ts";

/** The gas of a transaction that only carries one authorization (EIP-7702). */
const removalGas = 21_000n + 25_000n;

/**
 * Signs and journals a transaction that removes the delegation of a wallet which asked for it. To the lane it is a cancel
 * that carries an authorization: it does no job, and if it is stuck, a plain cancel takes its place. A removal that is
 * lost in this way, or by a crash in here, is not repeated: the wallet is still delegated, and its owner asks again.
 */
export async function signRemoval(lane: Lane, head: ChainHead): Promise<LaneTransaction | undefined> {
	const { pool, id, chain, account, log } = lane;
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
	const call = { to: account.address, data: "0x" } as const;
	const raw: Hex = await account.signTransaction({
		...call,
		...fees,
		type: "eip7702",
		chainId: id.chainId,
		nonce,
		gas: removalGas + (await feeModelOf(chain.deployment).readExtraGas(chain, call)),
		authorizationList: [signedAuthorization(authorization)],
	});
	const transaction: LaneTransaction = {
		nonce,
		attempt: 0,
		hash: keccak256(raw),
		raw,
		kind: "cancel",
		jobs: [],
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
		sentAtBlock: head.number,
	};
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
