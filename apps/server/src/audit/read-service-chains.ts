import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import { type AuditMemory, rememberSolana } from "./audit-memory.ts";
import { isOurs, type Ours, refundableAt } from "./check/check-order.ts";
import type { AuditedChain } from "./read/audited-chain.ts";
import { type AuditedSolana, finalHoldings } from "./read/audited-solana.ts";
import { mapConcurrently } from "./read/map-concurrently.ts";
import { orderHoldings, type SolanaHistory } from "./read/order-history.ts";
import type { Books } from "./read/read-books.ts";
import {
	type Acquaintance,
	type ChainReading,
	judgeStranger,
	readChainEvents,
	startReading,
} from "./read/read-chain-events.ts";
import { readSolanaTransactions } from "./read/read-solana-transactions.ts";
import { CouldNotCheckError } from "./read/report.ts";

/** Returns the result of a call to a chain, or undefined if it fails. The chain then counts as unchecked. */
export type OfChain = <T>(chain: { chainId: number }, calling: Promise<T>) => Promise<T | undefined>;

/** Returns what awaits calls to chains, and lists those that do not respond. */
export function uncheckedUnless(unchecked: Map<number, string>): OfChain {
	return async ({ chainId }, calling) => {
		try {
			return await calling;
		} catch (error) {
			unchecked.set(chainId, new CouldNotCheckError(`chain ${chainId}`, error).message);
			return undefined;
		}
	};
}

type Service = Pick<Ours, "chains" | "solana" | "earlierAttesterSets">;

/** Reads what happened on the chains that the service offers. A chain that cannot be read is listed as unchecked. */
export async function readServiceChains(
	{
		chains,
		solana,
		service,
	}: { chains: readonly AuditedChain[]; solana: AuditedSolana | undefined; service: Service },
	{
		books,
		known,
		memory,
		maxSolanaReads,
		unchecked,
		ofChain,
		nowMs,
	}: {
		books: Books;
		/** Orders that have a swap. */
		known: ReadonlySet<Hex>;
		memory: AuditMemory | undefined;
		maxSolanaReads: number | undefined;
		unchecked: Map<number, string>;
		ofChain: OfChain;
		nowMs: Milliseconds;
	},
) {
	// A worker books a chain when it first reads a block of it, which a slow node can delay for longer than a breach takes
	// to be confirmed.
	for (const { chainId } of solana ? [...chains, solana] : chains) {
		if (!isInLedger(books, chainId)) unchecked.set(chainId, "no worker has followed it yet");
	}
	const isFollowed = ({ chainId }: { chainId: number }) => !unchecked.has(chainId);
	// Chains are read after the books, up to their current final blocks, because a delivery is final before its release
	// is booked. These blocks are requested from all chains concurrently, before the rest of the reading, which may take
	// long. Orders are read before the holdings, because everything is checked at the slot of the holdings.
	const minSlot = (solana && books.bookedBlocks.get(solana.chainId)) ?? 0;
	const inOrders =
		solana && isFollowed(solana)
			? await ofChain(solana, orderHoldings(solana, { swaps: books.swaps, minSlot }))
			: undefined;
	const slots = [...(inOrders?.values() ?? [])].map(({ slot }) => slot);
	const [finals, holdings] = await Promise.all([
		Promise.all(
			chains.map(async (chain) => (isFollowed(chain) ? ofChain(chain, finalBlock(chain, books)) : undefined)),
		),
		solana &&
			isFollowed(solana) &&
			ofChain(solana, finalHoldings(solana, { minSlot: Math.max(minSlot, ...slots) })),
	]);
	const [perChain, history] = await Promise.all([
		Promise.all(
			chains.map(async (chain, i) => {
				const final = finals[i];
				const block = books.bookedBlocks.get(chain.chainId);
				const reading = memory?.chains.get(chain.chainId) ?? startReading(chain);
				memory?.chains.set(chain.chainId, reading);
				const acquaintance = acquaintanceOf(chain, { books, known, service });
				if (final) {
					const toBlock = Number(final.number);
					await ofChain(chain, readChainEvents(chain, { reading, toBlock, acquaintance }));
				}
				return { chain, final, reading, block };
			}),
		),
		solana && holdings && ofChain(solana, readHistory(solana, { books, memory, maxSolanaReads, nowMs })),
	]);
	for (const { chain, reading } of perChain) {
		const orderIds = strangersToJudge(reading, { books, perChain, history: history || undefined });
		await ofChain(
			chain,
			mapConcurrently(orderIds, (id) => judgeStranger(chain, { reading, orderId: id })),
		);
	}
	return { perChain, inOrders, holdings, history };
}

/** Returns true if the ledger or the heads have the chain. Its first entries are written together with its head. */
function isInLedger({ bookedBlocks, inventory }: Books, chainId: number): boolean {
	return bookedBlocks.has(chainId) || [...inventory.keys()].some((key) => key.startsWith(`${chainId}:`));
}

/** Returns the history of Solana. Throws if it is not fully read yet, or if the books are too old to be checked. */
async function readHistory(
	solana: AuditedSolana,
	{
		books,
		memory,
		maxSolanaReads,
		nowMs,
	}: {
		books: Books;
		memory: AuditMemory | undefined;
		maxSolanaReads: number | undefined;
		nowMs: Milliseconds;
	},
): Promise<SolanaHistory> {
	const history = await readSolanaTransactions(solana, {
		after: memory?.solana,
		maxReads: maxSolanaReads,
		openingSlot: books.solana?.openingSlot,
		isWritten: (signature) => books.solana?.written.has(signature) ?? false,
	});
	if (memory) rememberSolana(memory, history, nowMs);
	if (history.failure !== undefined) throw history.failure;
	if (history.unread.size > 0) {
		throw new Error(`${history.strangers} transactions of others were read so far, but there are more`);
	}
	const bookedSlot = books.bookedBlocks.get(solana.chainId);
	if (bookedSlot !== undefined && bookedSlot < history.giftsMergedAt) {
		throw new Error(
			`its books end at slot ${bookedSlot}, before transfers of others were recorded separately`,
		);
	}
	return history;
}

async function finalBlock(
	{ chainId, client }: AuditedChain,
	{ bookedBlocks }: Books,
): Promise<{ number: bigint; timestamp: bigint }> {
	const [{ number, timestamp }, actual] = await Promise.all([
		client.getBlock({ blockTag: "finalized" }),
		client.getChainId(),
	]);
	if (actual !== chainId) throw new Error(`its node belongs to chain ${actual}`);
	const booked = bookedBlocks.get(chainId) ?? 0;
	// Events after the node's block would appear not to have happened.
	if (number < booked) throw new Error(`its node is at block ${number}, behind the books at ${booked}`);
	return { number, timestamp };
}

/** Returns what the books and the configuration contain about the orders that begin on a chain. */
function acquaintanceOf(
	{ chainId }: AuditedChain,
	{
		books: { swaps },
		known,
		service,
	}: {
		books: Books;
		known: ReadonlySet<Hex>;
		service: Service;
	},
): Acquaintance {
	const own = swaps.filter(({ order }) => order.originChainId === BigInt(chainId));
	return {
		isSwap: (id) => known.has(id),
		orderIds: own.map(({ orderId: id }) => id),
		wallets: new Set(own.map(({ order }) => order.wallet)),
		refundableAt: (order) => (isOurs(order, service) ? Math.max(1, refundableAt(order)) : 0),
	};
}

/**
 * Returns the strangers' orders of a chain that are to be checked after all, because the books have them by now, or
 * because the service's keys delivered or closed them on some chain.
 */
function strangersToJudge(
	{ strangers }: ChainReading,
	{
		books: { swaps },
		perChain,
		history,
	}: {
		books: Books;
		perChain: readonly { reading: ChainReading }[];
		history: SolanaHistory | undefined;
	},
): Hex[] {
	if (strangers.count() + strangers.uncounted() === 0) return [];
	const acted = perChain.flatMap(({ reading: { events } }) =>
		[...events.filled, ...events.voided].map(({ orderId: id }) => id),
	);
	const onSolana = (history?.transactions ?? []).flatMap(({ named }) => named);
	const ids = new Set([...swaps.map(({ orderId: id }) => id), ...acted, ...onSolana]);
	return [...ids].filter((id) => strangers.find(id));
}
