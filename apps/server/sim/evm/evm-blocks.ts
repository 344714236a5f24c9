import { type Address, type Hex, keccak256, stringToHex, zeroHash } from "viem";
import { blockGasLimit } from "./block-gas-limit.ts";
import type { BlockTerms, SimEvm } from "./create-evm.ts";
import type { EvmTransaction } from "./parse-raw-transaction.ts";
import { effectiveGasPrice, runTransaction, type TransactionOutcome } from "./run-transaction.ts";
import { createStateOverlay, type StateOverlay, stateKey } from "./state-overlay.ts";
import type { TransactionPool } from "./transaction-pool.ts";
import type { VersionedState } from "./versioned-state.ts";

export type MinedTransaction = TransactionOutcome & {
	transaction: EvmTransaction;
	gasPrice: bigint;
	/** Index of its first log within the block. */
	firstLogIndex: number;
};

export type EvmBlock = {
	number: number;
	hash: Hex;
	parentHash: Hex;
	/** Unix seconds. */
	timestamp: number;
	baseFee: bigint;
	gasUsed: bigint;
	mined: MinedTransaction[];
};

/**
 * Mines the next block from the pending transactions that can pay, the highest bid first, and writes its state changes.
 */
export async function mineBlock({
	parent,
	timestamp,
	baseFee,
	salt,
	pool,
	state,
	evm,
	isHeldBack,
}: {
	parent: EvmBlock | undefined;
	timestamp: number;
	baseFee: bigint;
	/** Distinguishes blocks of two forks that are otherwise the same. */
	salt: number;
	pool: TransactionPool;
	state: VersionedState;
	evm: SimEvm;
	isHeldBack: (hash: string) => boolean;
}): Promise<EvmBlock> {
	const number = parent ? parent.number + 1 : 0;
	const overlay = createStateOverlay((key) => state.read(key, number));
	const terms: BlockTerms = { number: BigInt(number), timestamp: BigInt(timestamp), baseFee };
	const mined: MinedTransaction[] = [];
	let gasUsed = 0n;
	let logs = 0;
	for (;;) {
		const transaction = bestOf(
			pool
				.fronts((sender) => nonceIn(overlay, sender))
				.filter((front) => canGoIn(front, { overlay, baseFee, gasLeft: blockGasLimit - gasUsed }))
				.filter(({ hash }) => !isHeldBack(hash)),
			terms,
		);
		if (!transaction) break;
		pool.remove(transaction);
		const outcome = await runTransaction({ transaction, block: terms, state: overlay, evm });
		const gasPrice = effectiveGasPrice(transaction, terms);
		mined.push({ ...outcome, transaction, gasPrice, firstLogIndex: logs });
		gasUsed += outcome.gasUsed;
		logs += outcome.logs.length;
	}
	state.write(number, overlay.changes());
	const parentHash = parent?.hash ?? zeroHash;
	const content = [evm.chainId, number, parentHash, timestamp, baseFee, salt];
	const hashes = mined.map(({ transaction }) => transaction.hash);
	const hash = keccak256(stringToHex([...content, ...hashes].join()));
	return { number, hash, parentHash, timestamp, baseFee, gasUsed, mined };
}

function nonceIn(overlay: StateOverlay, account: Address): number {
	return Number(overlay.number(stateKey.nonce(account)));
}

function canGoIn(
	{ from, gas, maxFeePerGas, value }: EvmTransaction,
	{ overlay, baseFee, gasLeft }: { overlay: StateOverlay; baseFee: bigint; gasLeft: bigint },
): boolean {
	const cost = gas * maxFeePerGas + value;
	return maxFeePerGas >= baseFee && gas <= gasLeft && overlay.number(stateKey.native(from)) >= cost;
}

/** Returns the transaction with the highest bid; of equal bids, the one that came first. */
function bestOf(fronts: EvmTransaction[], terms: BlockTerms): EvmTransaction | undefined {
	let best: EvmTransaction | undefined;
	for (const front of fronts) {
		if (!best || effectiveGasPrice(front, terms) > effectiveGasPrice(best, terms)) best = front;
	}
	return best;
}
