import { createHash, randomBytes } from "node:crypto";
import { type Address, type EncodedAccount, getBase58Decoder } from "@solana/kit";
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from "litesvm";
import { type AccountState, type AccountStates, accountStates } from "./account-states.ts";
import { solanaMachine } from "./solana-machine.ts";
import { type TokenBalance, tokenBalance } from "./token-balance.ts";
import { type TransactionErrorJson, transactionErrorJson } from "./transaction-error-json.ts";
import type { WireTransaction } from "./wire-transaction.ts";

export type Commitment = "processed" | "confirmed" | "finalized";

export type Block = {
	slot: number;
	/** Blocks before it: fewer than slots, since not every slot has one. */
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
	/** By the place of the account in the message. */
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
	/** Every so many slots there is one without a block. */
	skipEvery: number | undefined;
	now: () => number;
	/** Nobody else's as long as the chain is in use. */
	svm?: LiteSVM;
	/** What blockhashes follow from. Without it no two chains have the same. */
	run?: Uint8Array;
};

type SlotOptions = {
	/** Of transactions that wait, those that stay so. */
	isHeldBack?: (wire: WireTransaction) => boolean;
};

/** How many blocks back a transaction's blockhash may be. */
const blockhashAge = 150;
/** The chain is this old when it starts, so that nobody takes a height for a slot. */
const firstSlot = 1_000;

const base58 = getBase58Decoder();

export const solanaDevnetGenesisHash: string = base58.decode(
	createHash("sha256").update("geoswap devnet: Solana").digest(),
);

/** A chain of one node: a slot clock, blocks with their hashes, and finality by age, around a virtual machine. */
export function solanaChain({
	confirmedSlots,
	finalitySlots,
	skipEvery,
	now,
	// Otherwise what was signed for a chain that ended would be good on the next one.
	run = randomBytes(16),
	svm = solanaMachine(),
}: SolanaChainOptions) {
	const states: AccountStates = accountStates(svm);

	const nowSeconds = () => Math.floor(now() / 1000);
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
	/** By signature. */
	let pending = new Map<string, WireTransaction>();
	/** Places in `blocks`. */
	const places: Record<Commitment, number> = { processed: 0, confirmed: 0, finalized: 0 };
	let isFinalityStalled = false;

	const head = (commitment: Commitment): Block => blocks[places[commitment]] ?? genesis;

	/** As far as there are blocks of that age. */
	const advance = (commitment: Commitment, age: number) => {
		while ((blocks[places[commitment] + 1]?.slot ?? Number.POSITIVE_INFINITY) <= slot - age) {
			places[commitment] += 1;
			if (commitment !== "finalized") continue;
			const { changed, slot: finalSlot } = head("finalized");
			for (const address of changed) states.forgetBefore(address, finalSlot);
		}
	};

	/** Whether one takes it whose newest blockhash is that of this height. A new block's newest is its parent's. */
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
		// Nobody is told why a transaction that does not land does not.
		if (!isLandable(wire, block)) return;
		const before = snapshot(wire.keys);
		const result = attempt(() => svm.sendTransaction(wire.transaction));
		if (!result) return;
		const isFailed = result instanceof FailedTransactionMetadata;
		const error = isFailed ? transactionErrorJson(result.err()) : null;
		// What fails before its fee is taken is in no block.
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

	/** On top of the newest one, and still without transactions. */
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
		const clock = svm.getClock();
		clock.slot = BigInt(at);
		clock.unixTimestamp = BigInt(unixSeconds);
		svm.setClock(clock);
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

	/** The next slot. */
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
		const result = states.during(wire.keys, head(commitment).slot, () =>
			attempt(() => svm.simulateTransaction(wire.transaction)),
		);
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

	/** Takes what is in the block out of all lists. What it did must have been undone. */
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
	 * Another fork wins: the newest blocks, as many as are not final at most, give way to others in the same slots that
	 * are as old, and empty. So what was confirmed was so in vain, and their blockhashes are good for nothing. The
	 * transactions that are kept wait for a slot, the others are gone.
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
	 * As if another fork had won, on which all is the same but for this transaction. Its bytes are forgotten: who sends
	 * them again has them land in a later slot.
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
		simulate,
		dropTransaction,
		fork,
		isBlockhashKnown,
		slot: () => slot,
		send: (wire: WireTransaction) => {
			pending.set(wire.signature, wire);
		},
		waiting: (): string[] => [...pending.keys()],
		/** Takes it back from where it waits for a slot. */
		forget: (signature: string) => pending.delete(signature),
		/** At the end of the newest slot of that commitment. */
		accountAt: (address: Address, commitment: Commitment): AccountState =>
			commitment === "processed" ? states.read(address) : states.readAt(address, head(commitment).slot),
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

/** Bytes that make no sense as a transaction are thrown back by the machine, and must not end the chain. */
function attempt<T>(run: () => T): T | undefined {
	try {
		return run();
	} catch {
		return undefined;
	}
}

export type SolanaChain = ReturnType<typeof solanaChain>;
