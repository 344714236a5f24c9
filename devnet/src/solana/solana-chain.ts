import { createHash, randomBytes } from "node:crypto";
import { type Address, type EncodedAccount, getBase58Decoder } from "@solana/kit";
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from "litesvm";
import { type AccountState, type AccountStates, accountStates } from "./account-states.ts";
import { clockAccount, clockAddress } from "./clock-account.ts";
import { solanaMachine } from "./solana-machine.ts";
import { type TokenBalance, tokenBalance } from "./token-balance.ts";
import { type TransactionErrorJson, transactionErrorJson } from "./transaction-error-json.ts";
import type { WireTransaction } from "./wire-transaction.ts";

export type Commitment = "processed" | "confirmed" | "finalized";

export type Block = {
	slot: number;
	/** Number of blocks before it. Smaller than the slot, since not every slot has a block. */
	height: number;
	parentSlot: number;
	blockhash: string;
	unixSeconds: number;
	transactions: LandedTransaction[];
	changed: Set<Address>;
};

export type LandedTransaction = {
	wire: WireTransaction;
	block: Block;
	error: TransactionErrorJson | null;
	meta: TransactionMetadata;
	/** Indexed by the account's position in the message. */
	lamports: { before: bigint[]; after: bigint[] };
	tokens: { before: TokenBalance[]; after: TokenBalance[] };
};

export type Simulated = {
	error: TransactionErrorJson | null;
	meta: TransactionMetadata | undefined;
	accounts: Map<Address, EncodedAccount>;
};

export type SolanaChainOptions = {
	/** Slots until a block is confirmed, and until it is final. */
	confirmedSlots: number;
	finalitySlots: number;
	/** Every `skipEvery`th slot has no block. */
	skipEvery: number | undefined;
	now: () => number;
	/** A virtual machine that is not shared while the chain uses it. */
	svm?: LiteSVM;
	/** The seed of the blockhashes. Without it no two chains have the same. */
	run?: Uint8Array;
};

type SlotOptions = {
	/** True for pending transactions that must keep waiting. */
	isHeldBack?: (wire: WireTransaction) => boolean;
};

/** The greatest age of a transaction's blockhash, in blocks. */
const blockhashAge = 150;
/** The chain starts at this slot, so that heights and slots are easy to tell apart. */
const firstSlot = 1_000;

const base58 = getBase58Decoder();

export const solanaDevnetGenesisHash: string = base58.decode(
	createHash("sha256").update("geoswap devnet: Solana").digest(),
);

/**
 * Creates a chain of one node: a slot clock, blocks with their hashes, and finality by age, around a virtual machine.
 */
export function solanaChain({
	confirmedSlots,
	finalitySlots,
	skipEvery,
	now,
	// The seed is random. Otherwise transactions signed for a chain that ended would be valid on the next one.
	run = randomBytes(16),
	svm = solanaMachine(),
}: SolanaChainOptions) {
	const states: AccountStates = accountStates(svm);

	/** The seconds by which the chain's clock was moved. */
	let passedSeconds = 0;
	const nowSeconds = () => Math.floor(now() / 1000) + passedSeconds;
	const genesis: Block = {
		slot: 0,
		height: 0,
		parentSlot: 0,
		blockhash: solanaDevnetGenesisHash,
		unixSeconds: nowSeconds(),
		transactions: [],
		changed: new Set(),
	};
	const blocks: Block[] = [genesis];
	const heightByBlockhash = new Map([[genesis.blockhash, genesis.height]]);
	const bySignature = new Map<string, LandedTransaction>();
	const byAddress = new Map<Address, LandedTransaction[]>();
	const listeners = new Set<() => void>();

	let slot = firstSlot;
	let forks = 0;
	/** Keyed by signature. */
	let pending = new Map<string, WireTransaction>();
	/** Indexes into `blocks`. */
	const places: Record<Commitment, number> = { processed: 0, confirmed: 0, finalized: 0 };
	let isFinalityStalled = false;

	const head = (commitment: Commitment): Block => blocks[places[commitment]] ?? genesis;

	/** Moves the commitment's head up to the newest block of at least that age. */
	const advance = (commitment: Commitment, age: number) => {
		while ((blocks[places[commitment] + 1]?.slot ?? Number.POSITIVE_INFINITY) <= slot - age) {
			places[commitment] += 1;
			if (commitment !== "finalized") continue;
			const { changed, slot: finalSlot } = head("finalized");
			for (const address of changed) states.forgetBefore(address, finalSlot);
		}
	};

	/**
	 * Returns true if a node whose newest blockhash has this height accepts it. While a block is produced, the newest
	 * blockhash is its parent's.
	 */
	const isBlockhashKnown = (blockhash: string, newestHeight: number): boolean => {
		const height = heightByBlockhash.get(blockhash);
		return height !== undefined && height <= newestHeight && newestHeight - height <= blockhashAge;
	};

	const snapshot = (keys: Address[]) => {
		const accounts = keys.map((key) => states.read(key));
		return {
			lamports: accounts.map((account) => account?.lamports ?? 0n),
			tokens: accounts.flatMap((account, index) => tokenBalance(account, index, states.read) ?? []),
		};
	};

	const isLandable = (wire: WireTransaction, block: Block): boolean =>
		!bySignature.has(wire.signature) && isBlockhashKnown(wire.blockhash, block.height - 1);

	const land = (wire: WireTransaction, block: Block) => {
		// A transaction that does not land fails silently, without a notification.
		if (!isLandable(wire, block)) return;
		const before = snapshot(wire.keys);
		const result = attempt(() => svm.sendTransaction(wire.transaction));
		if (!result) return;
		const isFailed = result instanceof FailedTransactionMetadata;
		const error = isFailed ? transactionErrorJson(result.err()) : null;
		// A transaction that fails before its fee is taken is in no block.
		const payer = wire.keys[0];
		if (isFailed && payer && (svm.getBalance(payer) ?? 0n) === before.lamports[0]) return;
		wire.keys.forEach((key, index) => {
			if (wire.isWritable(index) && states.refresh(key, block.slot)) block.changed.add(key);
		});
		const after = snapshot(wire.keys);
		const landed: LandedTransaction = {
			wire,
			block,
			error,
			meta: isFailed ? result.meta() : result,
			lamports: { before: before.lamports, after: after.lamports },
			tokens: { before: before.tokens, after: after.tokens },
		};
		block.transactions.push(landed);
		bySignature.set(wire.signature, landed);
		for (const key of wire.keys) {
			const all = byAddress.get(key);
			if (all) all.push(landed);
			else byAddress.set(key, [landed]);
		}
	};

	/** Sets the clock that programs read to the block's. */
	const setClock = (block: Block) => {
		const clock = svm.getClock();
		clock.slot = BigInt(block.slot);
		clock.unixTimestamp = BigInt(block.unixSeconds);
		svm.setClock(clock);
	};

	/** Adds an empty block on top of the newest one. */
	const addBlock = (at: number, unixSeconds: number): Block => {
		const parent = blocks.at(-1) ?? genesis;
		const hash = createHash("sha256").update(run).update(parent.blockhash).update(`${at}/${forks}`).digest();
		const block: Block = {
			slot: at,
			height: parent.height + 1,
			parentSlot: parent.slot,
			blockhash: base58.decode(hash),
			unixSeconds,
			transactions: [],
			changed: new Set(),
		};
		setClock(block);
		blocks.push(block);
		heightByBlockhash.set(block.blockhash, block.height);
		return block;
	};

	const produceBlock = (isHeldBack: SlotOptions["isHeldBack"]) => {
		const block = addBlock(slot, nowSeconds());
		const ordered = [...pending.values()].sort((a, b) =>
			Number(b.microLamportsPerUnit - a.microLamportsPerUnit),
		);
		for (const wire of ordered) {
			if (isHeldBack?.(wire) && isLandable(wire, block)) continue;
			pending.delete(wire.signature);
			land(wire, block);
		}
	};

	/** Advances to the next slot. */
	const tick = ({ isHeldBack }: SlotOptions = {}) => {
		slot += 1;
		if (!skipEvery || slot % skipEvery !== 0) produceBlock(isHeldBack);
		advance("processed", 0);
		advance("confirmed", confirmedSlots);
		if (!isFinalityStalled) advance("finalized", finalitySlots);
		for (const listener of listeners) listener();
	};

	const warp = (slots: number) => {
		for (let i = 0; i < slots; i++) tick();
	};

	const simulate = (
		wire: WireTransaction,
		{ commitment, checksBlockhash }: { commitment: Commitment; checksBlockhash: boolean },
	): Simulated => {
		const refused = (error: string) => ({ error, meta: undefined, accounts: new Map() });
		if (checksBlockhash) {
			if (!isBlockhashKnown(wire.blockhash, head(commitment).height)) return refused("BlockhashNotFound");
			const landed = bySignature.get(wire.signature);
			if (landed && landed.block.slot <= head(commitment).slot) return refused("AlreadyProcessed");
		}
		setClock(head(commitment));
		const result = states.during(wire.keys, head(commitment).slot, () =>
			attempt(() => svm.simulateTransaction(wire.transaction)),
		);
		setClock(blocks.at(-1) ?? genesis);
		if (!result) return refused("SanitizeFailure");
		if (result instanceof FailedTransactionMetadata) {
			return { error: transactionErrorJson(result.err()), meta: result.meta(), accounts: new Map() };
		}
		return {
			error: null,
			meta: result.meta(),
			accounts: new Map(result.postAccounts().map((account) => [account.address, account])),
		};
	};

	/** Removes the block's transactions from all indexes. Their effects must have been undone. */
	const forgetTransactions = (block: Block) => {
		for (const { wire } of block.transactions) {
			bySignature.delete(wire.signature);
			for (const key of wire.keys) {
				byAddress.set(key, byAddress.get(key)?.filter((landed) => landed.block !== block) ?? []);
			}
		}
		block.transactions = [];
	};

	/**
	 * Lets another fork win. The newest blocks, at most those that are not final, are replaced by empty ones in the same
	 * slots and of the same age, so confirmations of the old blocks no longer count, and their blockhashes are invalid.
	 * The transactions that are kept wait for a slot; the others are gone.
	 */
	const fork = ({ depth, isKept }: { depth: number; isKept: (signature: string) => boolean }) => {
		const gone = blocks.splice(Math.max(blocks.length - depth, places.finalized + 1));
		const [first] = gone;
		if (!first) return;
		states.restore(first.slot - 1);
		forks += 1;
		const kept = gone.flatMap(({ transactions }) =>
			transactions.flatMap(({ wire }) => (isKept(wire.signature) ? [[wire.signature, wire] as const] : [])),
		);
		for (const block of gone) {
			heightByBlockhash.delete(block.blockhash);
			forgetTransactions(block);
			addBlock(block.slot, block.unixSeconds);
		}
		pending = new Map([...kept, ...pending]);
	};

	/**
	 * Lets another fork win that lacks only this transaction. Its bytes are forgotten, so if they are sent again, they
	 * land in a later slot.
	 */
	const dropTransaction = (signature: string) => {
		const dropped = bySignature.get(signature);
		if (!dropped) throw new Error(`there is no transaction ${signature}`);
		const { slot: from } = dropped.block;
		if (from <= head("finalized").slot) throw new Error(`${signature} is final`);
		states.restore(from - 1);
		const undone = blocks.slice(places.finalized + 1).filter((block) => block.slot >= from);
		const again = undone.map((block) => ({ block, transactions: block.transactions }));
		for (const { block } of again) forgetTransactions(block);
		for (const { block, transactions } of again) {
			setClock(block);
			for (const { wire } of transactions) if (wire.signature !== signature) land(wire, block);
		}
	};

	warp(finalitySlots + 10);

	return {
		svm,
		states,
		blocks,
		head,
		tick,
		warp,
		/** Moves the clock of all later blocks. */
		passTime: (seconds: number) => {
			passedSeconds += seconds;
		},
		simulate,
		dropTransaction,
		fork,
		isBlockhashKnown,
		slot: () => slot,
		send: (wire: WireTransaction) => {
			pending.set(wire.signature, wire);
		},
		waiting: (): string[] => [...pending.keys()],
		/** Removes it from the transactions that wait for a slot. */
		forget: (signature: string) => pending.delete(signature),
		/** Returns the account at the end of the newest slot of that commitment. */
		accountAt: (address: Address, commitment: Commitment): AccountState => {
			if (address === clockAddress) return clockAccount(head(commitment));
			return commitment === "processed"
				? states.read(address)
				: states.readAt(address, head(commitment).slot);
		},
		lastValidBlockHeight: ({ height }: Block) => height + blockhashAge,
		transaction: (signature: string) => bySignature.get(signature),
		/** Oldest first. */
		transactionsOf: (address: Address): readonly LandedTransaction[] => byAddress.get(address) ?? [],
		stallFinality: (isStalled: boolean) => {
			isFinalityStalled = isStalled;
		},
		onSlot: (listener: () => void) => {
			listeners.add(listener);
		},
	};
}

/** Returns undefined if the machine throws, as it does on malformed transactions, so that they do not end the chain. */
function attempt<T>(run: () => T): T | undefined {
	try {
		return run();
	} catch {
		return undefined;
	}
}

export type SolanaChain = ReturnType<typeof solanaChain>;
