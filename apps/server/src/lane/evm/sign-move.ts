import { isDeferredBySigner, isRefusedBySigner } from "@geoswap/keys/signer-error";
import { encodeFunctionData, hexToBytes, keccak256 } from "viem";
import { mintCall } from "../../chain/evm/cctp/read-mint.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { feeModelOf } from "../../chain/evm/fee/fee-model.ts";
import { revertOf } from "../../chain/evm/revert-of.ts";
import { type Database, inTransaction } from "../../database/database.ts";
import { journalLease } from "../../job/journal/journal-lease.ts";
import type { LaneId, LaneTransaction } from "../../job/journal/lane-transactions.ts";
import { changeMove, readMoves, type TreasuryMove } from "../../money/move/treasury-moves.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";
import { type MoveCall, moveCall } from "./move-call.ts";
import { freshFees } from "./transaction-fees.ts";

/** A trade that is in no block after so long reverts, because its minimum is of an old price. */
const tradeSeconds = 600;

/**
 * Signs the next move of the inventory, or the mint of one that comes from another chain. The transaction is journalled
 * and the row changed at once, so a move is never signed twice. Returns undefined if there is nothing to sign.
 */
export async function signMove(lane: Lane, head: ChainHead): Promise<LaneTransaction | undefined> {
	const { pool, id, log, nowMs } = lane;
	for (const move of await readMoves(pool, waitsForLane, [id.chainId])) {
		const isMint = move.state === "attested";
		const about = { ...id, move: move.id, moveId: move.moveId, kind: isMint ? "mint" : move.kind };
		const deadline = Math.max(Math.floor(nowMs() / 1_000), Number(head.timestamp)) + tradeSeconds;
		const call = isMint ? mintOf(move, lane.chain) : moveCall(move, { deadline });
		if (!call) continue;
		const estimate = await estimateGas(lane, call);
		if ("refusal" in estimate) {
			log.warn({ ...about, reason: estimate.refusal }, "the chain would refuse the move");
			// The next look at the chains decides about a refused mint, and about a move that the vault has made before.
			if (!isMint && estimate.refusal !== "AlreadyMoved") {
				await changeMove(pool, {
					id: move.id,
					from: "queued",
					to: "failed",
					set: { problem: `refused: ${estimate.refusal}` },
				});
			}
			continue;
		}
		let transaction: LaneTransaction;
		try {
			transaction = await signCall(lane, { call, gas: estimate.gas, move: move.id, head });
		} catch (error) {
			if (!isRefusedBySigner(error) && !isDeferredBySigner(error)) throw error;
			log.error({ ...about, err: error }, "the signer does not sign the move");
			continue;
		}
		if (await journal(lane, { move, transaction })) {
			log.info({ ...about, nonce: transaction.nonce, hash: transaction.hash }, "the move is signed");
			return transaction;
		}
	}
	return undefined;
}

const waitsForLane = `(
	state = 'queued' and chain_id = $1 and not exists (select from treasury_pauses where resumed_at is null)
	or state = 'attested' and to_chain_id = $1
)`;

/**
 * Returns whether a signed move is still to be made: its row has not gone on, which it does when the chain shows the
 * move, or the mint by someone else.
 */
export async function isMoveWanted(db: Database, { chainId }: LaneId, move: string): Promise<boolean> {
	const condition =
		"id = $2 and (state = 'sent' and chain_id = $1 or state in ('minting', 'stuck') and to_chain_id = $1)";
	return (await readMoves(db, condition, [chainId, move])).length > 0;
}

function mintOf(move: TreasuryMove, { deployment: { cctp } }: EvmChain): MoveCall | undefined {
	return move.kind === "bridge" && move.attested && cctp ? mintCall(cctp, move.attested) : undefined;
}

/** Returns the gas of a call, or the name of the error with which it would revert. */
async function estimateGas(
	{ chain, account }: Pick<Lane, "chain" | "account">,
	call: MoveCall,
): Promise<{ gas: bigint } | { refusal: string }> {
	try {
		return { gas: await chain.client.estimateContractGas({ ...call, account: account.address }) };
	} catch (error) {
		const reverted = revertOf(error);
		if (!reverted) throw error;
		return { refusal: reverted.data?.errorName ?? reverted.reason ?? reverted.signature ?? "no reason" };
	}
}

/** Signs a call with the lane's next nonce. */
async function signCall(
	lane: Lane,
	{ call, gas, move, head }: { call: MoveCall; gas: bigint; move: string; head: ChainHead },
): Promise<LaneTransaction> {
	const { id, account, chain, pool } = lane;
	const { rows } = await pool.query<{ next_nonce: number }>(
		"select next_nonce from lanes where chain_id = $1 and relayer = $2",
		[id.chainId, hexToBytes(id.relayer)],
	);
	const [lanes] = rows;
	if (!lanes) throw new Error(`lane ${id.relayer} of chain ${id.chainId} has no nonce`);
	const nonce = lanes.next_nonce;
	const to = call.address;
	const data = encodeFunctionData(call);
	const extraGas = await feeModelOf(chain.deployment).readExtraGas(chain, { to, data });
	const fees = freshFees(lane, head);
	const raw = await account.signTransaction({
		chainId: id.chainId,
		nonce,
		to,
		data,
		// The state may be another one by the time it lands.
		gas: (gas * 13n) / 10n + extraGas,
		...fees,
		type: "eip1559",
	});
	return {
		nonce,
		attempt: 0,
		hash: keccak256(raw),
		raw,
		kind: "move",
		jobs: [],
		move,
		maxFeePerGas: fees.maxFeePerGas,
		state: "signed",
	};
}

/** Journals a move's transaction with the change of its row, both or neither. */
async function journal(
	{ pool, id }: Pick<Lane, "pool" | "id">,
	{ move, transaction }: { move: TreasuryMove; transaction: LaneTransaction },
): Promise<boolean> {
	const change =
		move.state === "attested"
			? ({ from: "attested", to: "minting" } as const)
			: ({
					from: "queued",
					to: "sent",
					set: { transaction_hash: hexToBytes(transaction.hash) },
				} as const);
	return inTransaction(pool, async (db) => {
		if (!(await changeMove(db, { id: move.id, ...change }))) return false;
		// No job is leased for it, so any number may name the lease.
		const lease = { lease: 0, nonce: transaction.nonce, outcomes: [], transactions: [transaction] };
		if ((await journalLease(db, id, lease)).outcome !== "journalled") throw new OtherRunError();
		return true;
	}).catch((error: unknown) => {
		if (error instanceof OtherRunError) return false;
		throw error;
	});
}

/** Another run of the lane has used the nonce. Undoes the change of the row. */
class OtherRunError extends Error {}
