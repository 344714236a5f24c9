import { isSolana, type Milliseconds, type Order, orderId } from "@geoswap/protocol";
import type pg from "pg";
import type { Hex } from "viem";
import { type AuditMemory, eventsToKeep, rememberSolana } from "./audit-memory.ts";
import { checkAllowances } from "./check/check-allowances.ts";
import { checkBalances } from "./check/check-balances.ts";
import { checkDepositDepth } from "./check/check-deposit-depth.ts";
import { checkExposure, type ExposedChain } from "./check/check-exposure.ts";
import { checkFillSigners } from "./check/check-fill-signers.ts";
import { checkMoves } from "./check/check-moves.ts";
import { checkOnce } from "./check/check-once.ts";
import { checkOrder, isOurs, isRefundWithoutVoid, type Ours, refundableAt } from "./check/check-order.ts";
import { checkOrderHoldings } from "./check/check-order-holdings.ts";
import { checkRefundable } from "./check/check-refundable.ts";
import { checkSolanaBalances } from "./check/check-solana-balances.ts";
import { checkSwap } from "./check/check-swap.ts";
import { checkUnknownFills } from "./check/check-unknown-fills.ts";
import { checkWaits } from "./check/check-waits.ts";
import { findLosses } from "./check/find-losses.ts";
import { findOwed } from "./check/find-owed.ts";
import { type AuditedChain, connectAuditedChain } from "./read/audited-chain.ts";
import { type AuditedSolana, connectAuditedSolana, finalHoldings } from "./read/audited-solana.ts";
import { CouldNotCheckError } from "./read/could-not-check-error.ts";
import { mapConcurrently } from "./read/map-concurrently.ts";
import { type OrderHistory, orderHistories } from "./read/order-history.ts";
import { orderHoldings } from "./read/order-holdings.ts";
import { type AuditedSwap, type Books, readBooks, readOrdersOfSwaps, readSigned } from "./read/read-books.ts";
import {
	type Acquaintance,
	type ChainEvents,
	type ChainReading,
	judgeStranger,
	readChainEvents,
	startReading,
} from "./read/read-chain-events.ts";
import { readSolanaTransactions } from "./read/read-solana-transactions.ts";
import { breachOf, type Finding, type Invariant, invariants, type Report } from "./read/report.ts";
import { solanaEvents } from "./read/solana-events.ts";
import type { SolanaHistory } from "./read/solana-history.ts";

/** Milliseconds by which the clocks that date the end of swaps may differ. */
const clocksMs = 600_000;

export type ReconcileOptions = {
	pool: pg.Pool;
	/** The EVM chains, with depths and caps if those are to be checked. */
	chains: readonly Parameters<typeof connectAuditedChain>[0][];
	/** Undefined if Solana is not offered. */
	solana?: Omit<Parameters<typeof connectAuditedSolana>[0], "earlierFeePayers"> | undefined;
	/** Hashes of retired attester sets. Orders may still reference them. */
	earlierAttesterSets: readonly Hex[];
	/** An earlier audit's memory. Only orders undecided or decided since are then audited. Updated by this call. */
	memory?: AuditMemory | undefined;
	/**
	 * Maximum number of transactions to read on Solana. Anyone can make more. The next audit with this memory then
	 * continues there, and Solana is unchecked until all are read.
	 */
	maxSolanaReads?: number | undefined;
	/** Known findings do not stop the memory from being updated. */
	isKnown?: ((finding: Finding) => boolean) | undefined;
	/** The time since which the configured depths and caps have applied to deliveries. */
	policySinceMs?: Milliseconds | undefined;
	/** The time since which swaps have been worked on without a break. */
	workingSinceMs?: Milliseconds | undefined;
	nowMs: Milliseconds;
};

/**
 * Checks the books against the chains, with separate SQL and decoding, so that it does not repeat a mistake of the code
 * that it checks. Each chain is read as of the block up to which it is booked. A chain that does not respond is
 * reported as unchecked, and the others are audited without it. Throws a CouldNotCheckError if the database does not
 * respond.
 */
export async function reconcile({
	pool,
	chains: configs,
	solana: solanaConfig,
	earlierAttesterSets,
	memory,
	maxSolanaReads,
	isKnown = () => false,
	policySinceMs,
	workingSinceMs = 0,
	nowMs,
}: ReconcileOptions): Promise<Report> {
	const clean = memory?.clean;
	const books = await CouldNotCheckError.unless(
		"the database",
		readBooks(pool, {
			endedAfter: clean && new Date(clean.atMs - clocksMs),
			postingsAfter: clean?.lastPosting,
		}),
	);
	const known = new Set(books.swaps.map(({ orderId: id }) => id));
	const chains = configs.map(connectAuditedChain);
	const service = { chains, solana: solanaConfig?.deployment, earlierAttesterSets };
	const earlierFeePayers = books.solana?.feePayers ?? [];
	const solana = solanaConfig && (await connectAuditedSolana({ ...solanaConfig, earlierFeePayers }));
	const unchecked = new Map<number, string>();
	/** Returns the result, or lists the chain as unchecked if the call fails. */
	const ofChain = async <T>({ chainId }: { chainId: number }, asking: Promise<T>) => {
		try {
			return await asking;
		} catch (error) {
			unchecked.set(chainId, new CouldNotCheckError(`chain ${chainId}`, error).message);
			return undefined;
		}
	};
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
	const isRead = ({ chain }: { chain: AuditedChain }) => !unchecked.has(chain.chainId);
	for (const { chain, reading } of perChain) {
		const orderIds = strangersToJudge(reading, { books, perChain, history: history || undefined });
		await ofChain(
			chain,
			mapConcurrently(orderIds, (id) => judgeStranger(chain, { reading, orderId: id })),
		);
	}
	const checked = Object.fromEntries(invariants.map((name) => [name, 0])) as Record<Invariant, number>;
	const unbalanced = books.unbalanced.map(
		({ key, chainIds }): Finding => ({
			invariant: "I2",
			message: `posting ${key} does not add up`,
			chainIds,
		}),
	);
	const breaches = [...unbalanced];
	checked.I2 += books.postings;
	const reports: Report["chains"] = [];
	for (const { chain, reading, block } of perChain.filter(isRead)) {
		if (block === undefined) {
			const message = `chain ${chain.chainId} is not in the books`;
			breaches.push({ invariant: "I2", message, chainIds: [chain.chainId] });
			continue;
		}
		const found = await ofChain(
			chain,
			Promise.all([
				checkBalances(chain, { block, reading, books }),
				checkAllowances(chain, { swaps: books.swaps, block }),
			]),
		);
		if (!found) continue;
		const [balances, allowances] = found;
		const { count, uncounted } = reading.strangers;
		const { unlistedBlocks } = reading;
		const otherOrders = { open: count(), uncounted: uncounted(), unlistedBlocks };
		reports.push({ chainId: chain.chainId, block, tokens: balances.tokens, otherOrders });
		checked.I1 += balances.tokens.length;
		checked.I2 += balances.tokens.length;
		checked.I13 += allowances.checked;
		breaches.push(...balances.breaches, ...allowances.breaches);
	}
	const allEvents = perChain.map(({ reading }) => reading.events);
	if (solana && holdings && history) {
		const isThen = ({ slot }: { slot: number }) => slot <= holdings.slot;
		const reading = {
			slot: holdings.slot,
			holdings: holdings.holdings,
			transactions: history.transactions.filter(isThen),
			gifts: new Map([...history.gifts].map(([address, gifts]) => [address, gifts.filter(isThen)])),
			undecodable: history.undecodable,
		};
		const orders = knownOrders(books, allEvents, memory?.solanaOrders);
		const returned = books.solana?.returned ?? new Set();
		const events = await solanaEvents(solana, { ...reading, orders, returned });
		const slot = books.bookedBlocks.get(solana.chainId);
		if (events.unknownDecisions > 0 && unchecked.size > 0) {
			const why = "it decided orders whose terms can only be read from a chain that does not answer";
			unchecked.set(solana.chainId, why);
		} else if (slot === undefined || !books.solana) {
			const message = `chain ${solana.chainId} is not in the books`;
			breaches.push({ invariant: "I2", message, chainIds: [solana.chainId] });
		} else {
			const balances = checkSolanaBalances(solana, { slot, reading, events, books: books.solana });
			if (inOrders) {
				breaches.push(...checkOrderHoldings(solana, { events: events.events, inOrders }));
			}
			const { strangers: transactions, undecodable } = history;
			reports.push({ ...balances.report, strangers: { transactions, undecodable } });
			checked.I1 += inOrders?.size ?? 0;
			checked.I2 += balances.report.tokens.length;
			breaches.push(...balances.breaches);
		}
		allEvents.push(events.events);
		if (!unchecked.has(solana.chainId)) {
			breaches.push(...holdings.breaches, ...events.breaches);
		}
	}

	const histories = orderHistories(allEvents);
	const refundedAt = await refundTimes(
		chains.filter(({ chainId }) => !unchecked.has(chainId)),
		{ histories: ofService(histories, service).filter(isRefundWithoutVoid), ask: ofChain },
	);
	for (const { chain, final } of perChain.filter(isRead)) {
		const refundable =
			final &&
			(await ofChain(
				chain,
				checkRefundable(chain, { histories: ofService(histories, service), known, block: final }),
			));
		if (!refundable) continue;
		checked.I12 += refundable.checked;
		breaches.push(...refundable.breaches);
	}
	const filled = [...histories.values()].filter((history) => history.filled.length > 0);
	// If a chain does not respond, it may have the deposits of orders whose terms are unknown.
	const orphans =
		unchecked.size > 0 ? [] : filled.filter(({ orderId: id, order }) => !order && !known.has(id));
	// The memory keeps nothing about swaps that ended long ago.
	const ended = await CouldNotCheckError.unless("the database", readOrdersOfSwaps(pool, orphans));
	const unknown = new Set(orphans.filter(({ orderId: id }) => !ended.has(id)));
	for (const chain of chains.filter(({ chainId }) => !unchecked.has(chainId))) {
		const fillsOf = (some: readonly OrderHistory[]) =>
			some.flatMap((history) => history.filled.filter(({ chainId }) => chainId === chain.chainId));
		const fills = fillsOf(filled.filter((history) => !unknown.has(history)));
		const signed = await CouldNotCheckError.unless("the database", readSigned(pool, fills));
		const { restoredAtMs } = books;
		const found = await ofChain(
			chain,
			Promise.all([
				checkUnknownFills(chain, { fills: fillsOf([...unknown]), restoredAtMs, nowMs }),
				checkFillSigners(chain, { fills, signed, restoredAtMs }),
			]),
		);
		breaches.push(...(found ?? []).flat());
	}
	const heldUpAtMs = memory?.heldUpAtMs ?? new Map<Hex, number>();
	const asked = solana && !unchecked.has(solana.chainId) ? solana : undefined;
	const owing = findOwed(asked, { swaps: books.swaps, histories, heldUpAtMs, nowMs });
	const owed = (asked ? await ofChain(asked, owing) : await owing) ?? [];
	const isOwed = new Set(owed.map(({ orderId: id }) => id));

	// No chain is called from here on.
	const ours = { ...service, refundedAt, unchecked: new Set(unchecked.keys()) };
	for (const history of histories.values()) breaches.push(...checkOrder(history, ours));
	for (const invariant of ["I3", "I4", "I5"] as const) checked[invariant] += histories.size;
	const policies: ExposedChain[] = [
		...perChain.map(({ chain: { chainId, policy }, final }) => ({
			chainId,
			policy,
			finalAt: final?.timestamp,
		})),
		...(solana ? [{ chainId: solana.chainId, policy: solana.policy, finalAt: undefined }] : []),
	];
	const exposed = policies.filter(({ chainId }) => !unchecked.has(chainId));
	const isOn = (order: Order, chainId: number) =>
		order.originChainId === BigInt(chainId) || order.destinationChainId === BigInt(chainId);
	const served = new Set(policies.map(({ chainId }) => BigInt(chainId)));
	const leftChainsOf = ({ order, isEnded }: AuditedSwap) =>
		isEnded
			? [...new Set([order.originChainId, order.destinationChainId])].filter((id) => !served.has(id))
			: [];
	// A chain may leave the service once its swaps have ended. It is then no longer read.
	const isJudged = (swap: AuditedSwap) =>
		[...unchecked.keys()].every((id) => !isOn(swap.order, id)) && leftChainsOf(swap).length === 0;
	const servingSinceMs = Math.max(workingSinceMs, books.restoredAtMs ?? 0);
	for (const swap of books.swaps) {
		const origin = policies.find(({ chainId }) => BigInt(chainId) === swap.order.originChainId);
		breaches.push(
			...checkMoves(swap),
			...checkDepositDepth(swap, {
				policy: origin?.policy ?? {},
				crossChecks: books.crossChecks,
				policySinceMs,
			}),
		);
		if (!isJudged(swap)) continue;
		const destination = policies.find(({ chainId }) => BigInt(chainId) === swap.order.destinationChainId);
		const finalAt = { origin: origin?.finalAt, destination: destination?.finalAt };
		const bookedAt = {
			origin: books.bookedAt.get(Number(swap.order.originChainId)),
			destination: books.bookedAt.get(Number(swap.order.destinationChainId)),
		};
		breaches.push(
			...checkSwap(swap, {
				history: histories.get(swap.orderId),
				finalAt,
				bookedAt,
				nowMs,
				isOwed: isOwed.has(swap.orderId),
				workingSinceMs: servingSinceMs,
			}),
		);
	}
	breaches.push(...checkWaits(books.swaps, { workingSeconds: (nowMs - servingSinceMs) / 1_000 }));
	checked.I7 += books.swaps.length;
	for (const invariant of ["I8", "I9", "I14"] as const)
		checked[invariant] += books.swaps.filter(isJudged).length;
	checked.I6 += books.swaps.reduce((sum, { decisions }) => sum + decisions.length, 0);
	const doubled = checkOnce(books.swaps, books);
	breaches.push(...doubled);
	checked.I11 += books.swaps.length + books.nonces.checked;
	const { swaps, events } = books;
	const exposure = checkExposure({ chains: exposed, swaps, events, histories, policySinceMs, nowMs });
	breaches.push(...exposure.breaches);
	checked.I10 += exposure.checked.I10;
	checked.I15 += exposure.checked.I15;

	const isLookedAt = ({ orderId: id, chainIds }: Finding) =>
		id && (histories.has(id) || known.has(id)) && !chainIds.some((chainId) => unchecked.has(chainId));
	const found = new Set(breaches.map(keyOf));
	const before = (memory?.found ?? []).filter((one) => !isLookedAt(one) && !found.has(keyOf(one)));
	breaches.push(...before);
	const isRight = breaches.every((finding) => finding.pauses === false || isKnown(finding));
	if (memory && isRight) {
		// A swap that could not be checked is read again, regardless of when it ended.
		if (unchecked.size === 0) memory.clean = { atMs: nowMs, lastPosting: books.lastPosting };
		const readAgainAfterMs = memory.clean ? memory.clean.atMs - clocksMs : Number.NEGATIVE_INFINITY;
		const awaited = new Set(
			swaps
				.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > readAgainAfterMs)
				.map(({ orderId: id }) => id),
		);
		for (const { reading } of perChain.filter(isRead)) {
			reading.events = eventsToKeep(reading.events, { histories, awaited });
		}
		for (const { orderId: id, order } of swaps) {
			if (isSolana(order.originChainId) || isSolana(order.destinationChainId))
				memory.solanaOrders.set(id, order);
		}
		// Balances and caps are checked each time. Orders, postings and nonces that are over are not.
		const records = new Set([...unbalanced, ...doubled, ...before]);
		memory.found = breaches.filter(
			(finding) => finding.pauses !== false && (finding.orderId || records.has(finding)),
		);
	}
	return {
		ok: breaches.every(({ pauses }) => pauses === false),
		unchecked: [...unchecked].map(([chainId, why]) => ({ chainId, why })),
		leftChains: countsOf(swaps.flatMap(leftChainsOf)),
		chains: reports,
		orders: histories.size,
		swaps: swaps.length,
		checked,
		breaches: breaches.map(breachOf),
		owed,
		...findLosses({ chains: exposed, swaps, histories, nowMs }),
	};
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
		throw new Error(`its books end at slot ${bookedSlot}, before what others gave could be told apart`);
	}
	return history;
}

function countsOf(chainIds: readonly bigint[]): Report["leftChains"] {
	const counts = new Map<number, number>();
	for (const id of chainIds) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
	return [...counts].map(([chainId, swaps]) => ({ chainId, swaps }));
}

function keyOf({ invariant, message, orderId: id }: Finding): string {
	return `${invariant} ${message} ${id}`;
}

async function finalBlock(
	{ chainId, client }: AuditedChain,
	{ bookedBlocks }: Books,
): Promise<{ number: bigint; timestamp: bigint }> {
	const [{ number, timestamp }, actual] = await Promise.all([
		client.getBlock({ blockTag: "finalized" }),
		client.getChainId(),
	]);
	if (actual !== chainId) throw new Error(`its node is of chain ${actual}`);
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
		service: Pick<Ours, "chains" | "solana" | "earlierAttesterSets">;
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

function ofService(
	histories: ReadonlyMap<Hex, OrderHistory>,
	ours: Pick<Ours, "chains" | "solana" | "earlierAttesterSets">,
): OrderHistory[] {
	return [...histories.values()].filter(({ order }) => order && isOurs(order, ours));
}

/** Returns all orders whose terms are in the books or contracts, or were there in an earlier audit. */
function knownOrders(
	{ swaps }: Books,
	events: readonly ChainEvents[],
	before: ReadonlyMap<Hex, Order> = new Map(),
): Order[] {
	const orders = [
		...before.values(),
		...swaps.map(({ order }) => order),
		...events.flatMap(({ opened }) => opened.map(({ order }) => order)),
	];
	return [...new Map(orders.map((order) => [orderId(order), order])).values()];
}

/** Returns when inputs were refunded, by the clock of a chain where anyone can do so after `refundAfter`. */
async function refundTimes(
	chains: readonly AuditedChain[],
	{
		histories,
		ask,
	}: {
		histories: readonly OrderHistory[];
		/** Returns undefined if the chain does not respond. */
		ask: <T>(chain: AuditedChain, asking: Promise<T>) => Promise<T | undefined>;
	},
): Promise<Map<Hex, bigint>> {
	const refunds = histories.flatMap(({ orderId: id, refunded: [refund] }) => {
		const chain = chains.find(({ chainId }) => chainId === refund?.chainId);
		return chain && refund
			? [{ id, chain, block: refund.block, key: `${chain.chainId}:${refund.block}` }]
			: [];
	});
	const blocks = [...new Map(refunds.map((refund) => [refund.key, refund])).values()];
	const times = await mapConcurrently(
		blocks,
		async ({ key, chain, block }): Promise<[string, bigint | undefined]> => {
			const found = await ask(chain, chain.client.getBlock({ blockNumber: BigInt(block) }));
			return [key, found?.timestamp];
		},
	);
	const byBlock = new Map(times);
	return new Map(
		refunds.flatMap(({ id, key }) => {
			const at = byBlock.get(key);
			return at === undefined ? [] : [[id, at] as const];
		}),
	);
}
