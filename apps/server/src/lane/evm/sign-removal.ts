import { type Authorization, geoAccountAbi } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, keccak256, zeroAddress } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { authorizationProblem } from "../../chain/evm/wallet/check-delegation.ts";
import { readAccountNonces } from "../../chain/evm/wallet/read-wallet.ts";
import { signedAuthorization } from "../../chain/evm/wallet/signed-authorization.ts";
import { moveRemoval, nextRemoval } from "../../job/delegation-removals.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneTransaction } from "../../job/journal/lane-transactions.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { type Fees, freshFees } from "./transaction-fees.ts";

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

/** The gas that a transaction pays in advance for each authorization that it carries (EIP-7702). */
const authorizationGas = 25_000n;

/** Signs a transaction that spends the nonce and does nothing, but for the authorization that it may carry. */
export async function signCancel(
	{ id, account, chain }: Pick<Lane, "id" | "account" | "chain">,
	{ nonce, fees, authorization }: { nonce: number; fees: Fees; authorization?: Authorization },
): Promise<Hex> {
	const call = { to: account.address, data: "0x" } as const;
	const gas = 21_000n + (await feeModelOf(chain.deployment).readExtraGas(chain, call));
	const transaction = { ...call, chainId: id.chainId, nonce, ...fees };
	return account.signTransaction(
		authorization
			? {
					...transaction,
					type: "eip7702",
					gas: gas + authorizationGas,
					authorizationList: [signedAuthorization(authorization)],
				}
			: { ...transaction, type: "eip1559", gas },
	);
}

/** Gas of a revocation: a signature and one storage slot. */
const revocationGas = 80_000n;

/** Signs a transaction that has a wallet's account revoke its mandates, with the wallet's own proof. */
async function signRevocation(
	{ id, account, chain }: Pick<Lane, "id" | "account" | "chain">,
	{ nonce, fees, wallet, proof }: { nonce: number; fees: Fees; wallet: Address; proof: Hex },
): Promise<Hex> {
	const data = encodeFunctionData({ abi: geoAccountAbi, functionName: "revokeMandates", args: [proof] });
	const call = { to: wallet, data };
	const gas = revocationGas + (await feeModelOf(chain.deployment).readExtraGas(chain, call));
	return account.signTransaction({ ...call, chainId: id.chainId, nonce, ...fees, type: "eip1559", gas });
}

/** Returns the first attempt of a signed cancel, as it is journalled. */
export function firstCancel(raw: Hex, { nonce, fees }: { nonce: number; fees: Fees }): LaneTransaction {
	return {
		nonce,
		attempt: 0,
		hash: keccak256(raw),
		raw,
		kind: "cancel",
		jobs: [],
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
	};
}
