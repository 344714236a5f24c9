import type { Address } from "viem";
import { RpcFailure } from "../sim-chain.ts";
import { blockGasLimit } from "./block-gas-limit.ts";
import type { EvmTransaction } from "./parse-raw-transaction.ts";
import { intrinsicGas } from "./run-transaction.ts";

/** Reads accounts as of the newest block. */
export type AccountReader = {
	nonce: (account: Address) => number;
	balance: (account: Address) => bigint;
	isDelegated: (account: Address) => boolean;
};

/** Pending transactions, by geth's rules. */
export type TransactionPool = {
	/** Throws an `RpcFailure` with the node's message if it is refused. */
	add: (transaction: EvmTransaction) => void;
	/** Takes back the transactions of a dropped block, except those whose nonce is taken by another transaction. */
	takeBack: (transactions: readonly EvmTransaction[]) => void;
	/** Returns the transaction of each sender that has exactly the given nonce, if there is one. */
	fronts: (nonceOf: (sender: Address) => number) => EvmTransaction[];
	remove: (transaction: EvmTransaction) => void;
	/** Forgets transactions whose nonce is spent. */
	purge: () => void;
	drop: (isDropped: (hash: string) => boolean) => void;
	/** Returns the sender's next nonce after its consecutive pending transactions. */
	pendingNonce: (sender: Address) => number;
	find: (hash: string) => EvmTransaction | undefined;
	/** Returns hashes in the order of arrival. */
	hashes: () => string[];
};

/** Percentage of the replaced transaction's fees, both of them, that a replacement must offer. */
const bumpPercent = 110n;
const refusal = -32_000;

export function createTransactionPool({
	chainId,
	accounts,
}: {
	chainId: number;
	accounts: AccountReader;
}): TransactionPool {
	const byHash = new Map<string, EvmTransaction>();
	const bySender = new Map<Address, Map<number, EvmTransaction>>();

	const insert = (transaction: EvmTransaction) => {
		byHash.set(transaction.hash, transaction);
		const own = bySender.get(transaction.from) ?? new Map<number, EvmTransaction>();
		own.set(transaction.nonce, transaction);
		bySender.set(transaction.from, own);
	};
	const remove = ({ hash, from, nonce }: EvmTransaction) => {
		byHash.delete(hash);
		const own = bySender.get(from);
		if (own?.get(nonce)?.hash === hash) own.delete(nonce);
		if (own?.size === 0) bySender.delete(from);
	};
	const refuse = (message: string) => new RpcFailure(refusal, message);

	const pendingNonce = (sender: Address) => {
		const own = bySender.get(sender);
		let nonce = accounts.nonce(sender);
		while (own?.has(nonce)) nonce++;
		return nonce;
	};

	/**
	 * Enforces that nodes keep one transaction of a delegated account, since its code may let others invalidate the rest.
	 */
	const checkDelegated = ({ from, nonce, authorizations }: EvmTransaction) => {
		const own = bySender.get(from);
		const isAuthority = [...byHash.values()].some((other) =>
			other.authorizations.some(({ authority }) => authority === from),
		);
		if ((accounts.isDelegated(from) || isAuthority) && !own?.has(nonce)) {
			if (own && own.size > 0) throw refuse("in-flight transaction limit reached for delegated accounts");
			if (nonce !== accounts.nonce(from)) throw refuse("gapped-nonce tx from delegated accounts");
		}
		for (const { authority } of authorizations) {
			if (authority && (bySender.get(authority)?.size ?? 0) > 1) throw refuse("authority already reserved");
		}
	};

	const check = (transaction: EvmTransaction) => {
		const { hash, from, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, value } = transaction;
		if (byHash.has(hash)) throw refuse("already known");
		if (transaction.chainId !== undefined && transaction.chainId !== chainId) {
			throw refuse("invalid chain id for signer");
		}
		if (gas > blockGasLimit) throw refuse("exceeds block gas limit");
		if (maxPriorityFeePerGas > maxFeePerGas) {
			throw refuse("max priority fee per gas higher than max fee per gas");
		}
		if (transaction.type === "eip7702" && transaction.authorizations.length === 0) {
			throw refuse("set code tx must have at least one authorization tuple");
		}
		if (gas < intrinsicGas(transaction)) throw refuse("intrinsic gas too low");
		const next = accounts.nonce(from);
		if (nonce < next) throw refuse(`nonce too low: next nonce ${next}, tx nonce ${nonce}`);
		if (accounts.balance(from) < gas * maxFeePerGas + value) {
			throw refuse("insufficient funds for gas * price + value");
		}
		checkDelegated(transaction);
		const replaced = bySender.get(from)?.get(nonce);
		if (!replaced) return;
		const isRaised = (now: bigint, before: bigint) => now > before && now * 100n >= before * bumpPercent;
		if (
			!isRaised(maxFeePerGas, replaced.maxFeePerGas) ||
			!isRaised(maxPriorityFeePerGas, replaced.maxPriorityFeePerGas)
		) {
			throw refuse("replacement transaction underpriced");
		}
		remove(replaced);
	};

	return {
		add: (transaction) => {
			check(transaction);
			insert(transaction);
		},
		takeBack: (transactions) => {
			for (const transaction of transactions) {
				if (!bySender.get(transaction.from)?.has(transaction.nonce)) insert(transaction);
			}
		},
		fronts: (nonceOf) =>
			[...bySender].flatMap(([sender, own]) => {
				const front = own.get(nonceOf(sender));
				return front ? [front] : [];
			}),
		remove,
		purge: () => {
			for (const transaction of [...byHash.values()]) {
				if (transaction.nonce < accounts.nonce(transaction.from)) remove(transaction);
			}
		},
		drop: (isDropped) => {
			for (const transaction of [...byHash.values()]) if (isDropped(transaction.hash)) remove(transaction);
		},
		pendingNonce,
		find: (hash) => byHash.get(hash),
		hashes: () => [...byHash.keys()],
	};
}
