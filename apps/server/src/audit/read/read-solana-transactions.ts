import type { SolanaAddress } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import type { SolanaGift, SolanaHistory } from "./order-history.ts";
import {
	changeOf,
	hexOfSignature,
	readSolanaTransaction,
	type SolanaTransaction,
} from "./read-solana-transaction.ts";

/** The maximum number of signatures that a node lists per call. */
const maxPageSize = 1_000;

/** A page that the node refuses is requested again with a tenth of its entries, down to one. */
const shrinkBy = 10;

/** Number of concurrent reads. An error loses at most this many reads, and nodes limit the rate of requests. */
const readsAtOnce = 8;

/**
 * Slots, about two hours, after which gifts are no longer kept by slot and are added up. Books are checked as of the
 * last slot that they include, which is a recent one. A stranger can make a gift to each account in each slot.
 */
const giftsApartSlots = 20_000;

/** Maximum number of strangers' transactions that one call keeps. One that names all addresses is read once. */
const maxRemembered = 20_000;

type StrangersTransaction = { slot: number; given: ReadonlyMap<SolanaAddress, bigint> };
type Read = { ours: SolanaTransaction } | StrangersTransaction | "undecodable";

/**
 * Reads the final transactions that name one of the service's keys or accounts, page by page. If `maxReads` is reached
 * or the node fails, the history states what is unread, and the next call with it continues there. Anyone can name
 * these addresses, so a page that the node refuses is requested smaller, and no transaction of a stranger ends the
 * reading.
 */
export async function readSolanaTransactions(
	chain: AuditedSolana,
	{
		pageSize = maxPageSize,
		maxReads = Number.POSITIVE_INFINITY,
		openingSlot = 0,
		isWritten = () => false,
		after,
	}: {
		pageSize?: number;
		/** Maximum number of transactions to read, rounded up to a page. */
		maxReads?: number | undefined;
		/** Gifts up to this slot are already in the balances with which the books began. */
		openingSlot?: number | undefined;
		/** Returns true if a lane has recorded the transaction, which must then be decodable. */
		isWritten?: ((signature: Hex) => boolean) | undefined;
		/** The earlier history. Only newer transactions are read, because final ones do not change. */
		after?: SolanaHistory | undefined;
	} = {},
): Promise<SolanaHistory> {
	const held = chain.accounts.map(({ address }) => address);
	const addresses = [...chain.feePayers, chain.deployment.program.address, ...held];
	const known = new Set(after?.transactions.map(({ signature }) => signature));
	const newest = new Map(after?.newest);
	const unread = new Map(after?.unread);
	const gifts = new Map(held.map((address) => [address, giftSums(after?.gifts.get(address))]));
	const found: SolanaTransaction[] = [];
	let { strangers, undecodable } = after ?? { strangers: 0, undecodable: 0 };
	const others = new Map<Signature, Read>();
	let reads = 0;

	let failure: unknown;
	let reading: SolanaAddress | undefined;
	try {
		for (const address of addresses) {
			reading = address;
			const rest = unread.get(address);
			if (rest && !(await readPart(address, rest))) continue;
			await readPart(address, { until: newest.get(address) });
		}
	} catch (error) {
		failure = new Error(`the transactions that name ${reading} could not all be read: ${messageOf(error)}`, {
			cause: error,
		});
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

	/** Reads the newest transactions, or those before the given one. Returns true if all of the part was read. */
	async function readPart(
		address: SolanaAddress,
		{ before: start, until }: { before?: Signature; until: Signature | undefined },
	): Promise<boolean> {
		for (let before = start, limit = pageSize; ; ) {
			if (before && reads >= maxReads) return false;
			const page = await listPage(chain, { address, limit, before, until });
			// A node may return fewer than requested although there are more, and will do so again, so the limit shrinks.
			limit = page.length;
			if (page.length === 0) {
				unread.delete(address);
				return true;
			}
			for (let i = 0; i < page.length; i += readsAtOnce) {
				const some = page.slice(i, i + readsAtOnce);
				const read = await Promise.allSettled(some.map(readOne));
				for (const [j, signature] of some.entries()) {
					const one = read[j];
					if (one?.status !== "fulfilled") throw one?.reason;
					if (one.value) take(address, one.value);
					if (!before) newest.set(address, signature);
					before = signature;
					unread.set(address, { before, until });
				}
			}
		}
	}

	function take(address: SolanaAddress, read: Read): void {
		if (read !== "undecodable" && "ours" in read) {
			known.add(read.ours.signature);
			found.push(read.ours);
			return;
		}
		strangers++;
		if (read === "undecodable") undecodable++;
		else if (read.slot > openingSlot) {
			// Counts this account only, because a gift to another account is counted with that account's list.
			gifts.get(address)?.add({ slot: read.slot, amount: read.given.get(address) ?? 0n });
		}
	}

	/**
	 * Returns undefined if the transaction is known. Throws if a transaction of the service cannot be decoded, because
	 * the audit would miss its effects.
	 */
	async function readOne(signature: Signature): Promise<Read | undefined> {
		const before = others.get(signature);
		if (before) return before;
		if (known.has(hexOfSignature(signature))) return undefined;
		reads++;
		const transaction = await readSolanaTransaction(chain, signature);
		if (transaction === "undecodable" && isWritten(hexOfSignature(signature))) {
			throw new Error(`the service's transaction ${signature} cannot be decoded`);
		}
		if (transaction !== "undecodable" && isKept(chain, transaction)) return { ours: transaction };
		const read = transaction === "undecodable" ? transaction : strangersOf(chain, transaction);
		if (others.size < maxRemembered) others.set(signature, read);
		return read;
	}
}

/** Returns what matters of a stranger's transaction: its slot, and its gifts to each of the service's accounts. */
function strangersOf({ accounts }: AuditedSolana, transaction: SolanaTransaction): StrangersTransaction {
	const changes = accounts.map((account) => [account.address, changeOf(transaction, account)] as const);
	return { slot: transaction.slot, given: new Map(changes.filter(([, amount]) => amount !== 0n)) };
}

/**
 * Returns true if a transaction has to be checked, because the service sent it, it may concern an order, or it took
 * something from the service.
 */
function isKept(chain: AuditedSolana, transaction: SolanaTransaction): boolean {
	return (
		chain.feePayers.includes(transaction.feePayer) ||
		transaction.calls.length > 0 ||
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

/** Lists a part of the signatures, newest first. Only an empty page marks the end. */
async function listPage(
	{ rpc }: AuditedSolana,
	{
		address,
		limit,
		before,
		until,
	}: {
		address: SolanaAddress;
		limit: number;
		before: Signature | undefined;
		until: Signature | undefined;
	},
): Promise<Signature[]> {
	for (let size = limit; ; size = Math.max(1, Math.floor(size / shrinkBy))) {
		try {
			const page = await rpc
				.getSignaturesForAddress(address, {
					commitment: "finalized",
					limit: size,
					...(before ? { before } : {}),
					...(until ? { until } : {}),
				})
				.send();
			return page.map(({ signature }) => signature);
		} catch (error) {
			if (size === 1) throw error;
		}
	}
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
