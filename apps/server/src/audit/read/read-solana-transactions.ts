import type { SolanaAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import { inTurns } from "./in-turns.ts";
import { hexOfSignature, readSolanaTransaction, type SolanaTransaction } from "./read-solana-transaction.ts";
import { changeOf } from "./solana-events.ts";
import type { SolanaGift, SolanaHistory } from "./solana-history.ts";

/** The most signatures that a node lists per call. */
const maxPageSize = 1_000;

/** Transactions read at a time. An error loses this many reads at most, and nodes limit the rate of requests. */
const readsAtOnce = 100;

/**
 * Slots, about eleven hours, after which gifts lose their own slot and are added up: books are judged as of the last
 * slot that they include, which is a recent one.
 */
const giftsApartSlots = 100_000;

/**
 * Reads the final transactions that name one of our keys or accounts, page by page. If `mostReads` is reached or the
 * node fails, the history says what is unread, and the next call with it continues there.
 */
export async function readSolanaTransactions(
	chain: AuditedSolana,
	{
		pageSize = maxPageSize,
		mostReads = Number.POSITIVE_INFINITY,
		openingSlot = 0,
		isWritten = () => false,
		after,
	}: {
		pageSize?: number;
		/** How many transactions to read at most, rounded up to a page. */
		mostReads?: number | undefined;
		/** Gifts up to this slot are already in the balances with which the books began. */
		openingSlot?: number | undefined;
		/** Returns whether a lane has recorded the transaction. If so, it must be decodable. */
		isWritten?: ((signature: Hex) => boolean) | undefined;
		/** The history read before. Only newer transactions are read: final ones do not change. */
		after?: SolanaHistory | undefined;
	} = {},
): Promise<SolanaHistory> {
	const { escrow, vault } = chain.deployment;
	const held = new Map(chain.accounts.map((account) => [account.address, account]));
	const addresses = [...new Set([...chain.feePayers, escrow, vault, ...held.keys()])];
	const known = new Set(after?.transactions.map(({ signature }) => signature));
	const newest = new Map(after?.newest);
	const unread = new Map(after?.unread);
	const gifts = new Map([...held.keys()].map((address) => [address, giftSums(after?.gifts.get(address))]));
	const found: SolanaTransaction[] = [];
	let { strangers, undecodable } = after ?? { strangers: 0, undecodable: 0 };
	let reads = 0;

	let failure: unknown;
	try {
		for (const address of addresses) {
			const rest = unread.get(address);
			if (rest && !(await readPart(address, rest))) continue;
			await readPart(address, { until: newest.get(address) });
		}
	} catch (error) {
		failure = error;
	}
	const transactions = [...(after?.transactions ?? []), ...found.toReversed()];
	return {
		transactions: transactions.toSorted((a, b) => a.slot - b.slot),
		gifts: new Map([...gifts].map(([address, sums]) => [address, sums.list()])),
		giftsMergedAt: Math.max(after?.giftsMergedAt ?? 0, ...[...gifts.values()].map((sums) => sums.mergedAt())),
		strangers,
		undecodable,
		newest,
		unread,
		failure,
	};

	/** Reads the newest transactions, or those before the given one. Returns whether all of the part was read. */
	async function readPart(
		address: SolanaAddress,
		{ before: start, until }: { before?: Signature; until: Signature | undefined },
	): Promise<boolean> {
		for (let before = start; ; ) {
			if (before && reads >= mostReads) return false;
			const page = await listPage(chain, { address, pageSize, before, until });
			for (let i = 0; i < page.length; i += readsAtOnce) {
				const some = page.slice(i, i + readsAtOnce);
				await take(address, some);
				const [first, last] = [some[0], some.at(-1)];
				if (first && !before) newest.set(address, first);
				before = last;
				if (before) unread.set(address, { before, until });
			}
			if (page.length < pageSize) {
				unread.delete(address);
				return true;
			}
		}
	}

	async function take(address: SolanaAddress, page: readonly Signature[]): Promise<void> {
		const unknown = page.filter((signature) => !known.has(hexOfSignature(signature)));
		reads += unknown.length;
		const read = await inTurns(unknown, (signature) => readOne(signature));
		const account = held.get(address);
		for (const transaction of read) {
			if (transaction !== "undecodable" && isKept(chain, transaction)) {
				known.add(transaction.signature);
				found.push(transaction);
				continue;
			}
			strangers++;
			if (transaction === "undecodable") undecodable++;
			else if (account && transaction.slot > openingSlot) {
				// Counts this account only: a gift to another of our accounts is counted with the list of that one.
				gifts.get(address)?.add({ slot: transaction.slot, amount: changeOf(transaction, account) });
			}
		}
	}

	/** Throws if a transaction of ours cannot be decoded: the audit would miss its effects. */
	async function readOne(signature: Signature): Promise<SolanaTransaction | "undecodable"> {
		const read = await readSolanaTransaction(chain, signature);
		if (read === "undecodable" && isWritten(hexOfSignature(signature))) {
			throw new Error(`our transaction ${signature} cannot be decoded`);
		}
		return read;
	}
}

/** Returns whether a transaction has to be judged: one of our keys made it, or it took something from us. */
function isKept(chain: AuditedSolana, transaction: SolanaTransaction): boolean {
	return (
		chain.feePayers.includes(transaction.feePayer) ||
		transaction.made.length > 0 ||
		chain.accounts.some((account) => changeOf(transaction, account) < 0n)
	);
}

/** Gifts to one account, by slot. There are never more entries than `giftsApartSlots`. */
function giftSums(before: readonly SolanaGift[] = []) {
	const sums = new Map(before.map(({ slot, amount }) => [slot, amount]));
	let newestSlot = before.at(-1)?.slot ?? 0;
	let merged = 0;
	const add = ({ slot, amount }: SolanaGift) => {
		if (amount === 0n) return;
		newestSlot = Math.max(newestSlot, slot);
		const at = Math.max(slot, newestSlot - giftsApartSlots);
		if (at > slot) merged = Math.max(merged, at);
		sums.set(at, (sums.get(at) ?? 0n) + amount);
	};
	const list = (): SolanaGift[] => {
		const old = [...sums].filter(([slot]) => slot < newestSlot - giftsApartSlots);
		for (const [slot, amount] of old) {
			sums.delete(slot);
			add({ slot, amount });
		}
		return [...sums].map(([slot, amount]) => ({ slot, amount })).toSorted((a, b) => a.slot - b.slot);
	};
	return { add, list, mergedAt: () => merged };
}

async function listPage(
	{ rpc }: AuditedSolana,
	{
		address,
		pageSize,
		before,
		until,
	}: {
		address: SolanaAddress;
		pageSize: number;
		before: Signature | undefined;
		until: Signature | undefined;
	},
): Promise<Signature[]> {
	const page = await rpc
		.getSignaturesForAddress(address, {
			commitment: "finalized",
			limit: pageSize,
			...(before ? { before } : {}),
			...(until ? { until } : {}),
		})
		.send();
	return page.map(({ signature }) => signature);
}
