import { isSolana, type Order, orderId } from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import type pg from "pg";
import { type Hex, hexToBytes } from "viem";
import { type AuditMemory, eventsToKeep } from "./audit-memory.ts";
import { type AuditedChain, connectAuditedChain } from "./audited-chain.ts";
import { type AuditedSolana, connectAuditedSolana, finalHoldings } from "./audited-solana.ts";
import { checkAllowances } from "./check-allowances.ts";
import { checkBalances } from "./check-balances.ts";
import { checkDepositDepth } from "./check-deposit-depth.ts";
import { checkExposure, type ExposedChain } from "./check-exposure.ts";
import { checkMoves } from "./check-moves.ts";
import { checkOnce } from "./check-once.ts";
import { checkOrder, isOurs, isRefundWithoutVoid, type Ours } from "./check-order.ts";
import { checkRefundable } from "./check-refundable.ts";
import { checkSolanaBalances } from "./check-solana-balances.ts";
import { checkSwap } from "./check-swap.ts";
import { checkUnknownFills } from "./check-unknown-fills.ts";
import { CouldNotCheckError } from "./could-not-check-error.ts";
import { findLosses } from "./find-losses.ts";
import { inTurns } from "./in-turns.ts";
import { type OrderHistory, orderHistories } from "./order-history.ts";
import { type Books, readBooks, readOrdersOfSwaps } from "./read-books.ts";
import { type ChainEvents, readChainEvents } from "./read-chain-events.ts";
import { readSolanaTransactions } from "./read-solana-transactions.ts";
import { breachOf, type Finding, type Invariant, invariants, type Report } from "./report.ts";
import { type SolanaEvents, solanaEvents } from "./solana-events.ts";

/** How far the clocks of whoever writes when a swap ended may be apart. */
const clocksMs = 600_000;

export type ReconcileOptions = {
	pool: pg.Pool;
	/** With depths and caps where those are to be checked. */
	chains: readonly Parameters<typeof connectAuditedChain>[0][];
	/** Absent where Solana is not offered. */
	solana?: Omit<Parameters<typeof connectAuditedSolana>[0], "earlierFeePayers"> | undefined;
	/** Hashes of the sets that orders of before name. */
	earlierAttesterSets: readonly Hex[];
	/** Of an earlier audit: then only what is undecided, or was decided since, is looked at. It is brought up to date. */
	memory?: AuditMemory | undefined;
	/** What is known, and keeps no memory from going on. */
	isKnown?: ((finding: Finding) => boolean) | undefined;
	/** Since when deliveries are decided by the depths that are configured now. */
	policySinceMs?: number | undefined;
	/** Since when swaps are worked on without a break. */
	workingSinceMs?: number | undefined;
	nowMs: number;
};

/**
 * Checks the books against the chains, with SQL and decoding of its own, so that it does not repeat a mistake of what
 * it checks. Each chain is read as of the block up to which it is booked. Throws a CouldNotCheckError where the database or
 * a chain does not answer.
 */
export async function reconcile({
	pool,
	chains: configs,
	solana: solanaConfig,
	earlierAttesterSets,
	memory,
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
	const chains = configs.map(connectAuditedChain);
	const earlierFeePayers = books.solana?.feePayers ?? [];
	const solana = solanaConfig && (await connectAuditedSolana({ ...solanaConfig, earlierFeePayers }));
	// Read after the books, and up to what is final by now: a delivery is final before its release is booked. How far
	// that is on each chain is asked at once, and the rest takes the time that it takes.
	const [finals, holdings] = await Promise.all([
		Promise.all(chains.map((chain) => ofChain(chain, finalBlock(chain, books)))),
		solana &&
			ofChain(solana, finalHoldings(solana, { minSlot: books.bookedBlocks.get(solana.chainId) ?? 0 })),
	]);
	const [perChain, history] = await Promise.all([
		Promise.all(
			chains.map(async (chain, i) => {
				const final = finals[i] as (typeof finals)[number];
				const before = memory?.chains.get(chain.chainId);
				const toBlock = Number(final.number);
				const read = readChainEvents(chain, { toBlock, fromBlock: before && before.upTo + 1 });
				const events = joined(before?.events, await ofChain(chain, read));
				return { chain, events, final, block: books.bookedBlocks.get(chain.chainId) };
			}),
		),
		solana && ofChain(solana, readSolanaTransactions(solana, { after: memory?.solana })),
	]);
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
	const unattributedDeposits: Report["unattributedDeposits"] = [];
	for (const { chain, events, block } of perChain) {
		if (block === undefined) {
			const message = `chain ${chain.chainId} is not in the books`;
			breaches.push({ invariant: "I2", message, chainIds: [chain.chainId] });
			continue;
		}
		const [balances, allowances] = await ofChain(
			chain,
			Promise.all([
				checkBalances(chain, { block, events, books }),
				checkAllowances(chain, { swaps: books.swaps, block }),
			]),
		);
		reports.push({ chainId: chain.chainId, block, tokens: balances.tokens });
		checked.I1 += balances.tokens.length;
		checked.I2 += balances.tokens.length;
		checked.I13 += allowances.checked;
		breaches.push(...balances.breaches, ...allowances.breaches);
	}
	const allEvents = perChain.map(({ events }) => events);
	if (solana && holdings && history) {
		const transactions = history.transactions.filter(({ slot }) => slot <= holdings.slot);
		const reading = { ...holdings, transactions };
		const orders = knownOrders(books, allEvents, memory?.solanaOrders);
		const events = await solanaEvents(solana, { transactions: reading.transactions, orders });
		allEvents.push(events.events);
		unattributedDeposits.push(...unattributed(solana, events));
		breaches.push(...holdings.breaches, ...events.breaches);
		const slot = books.bookedBlocks.get(solana.chainId);
		if (slot === undefined || !books.solana) {
			const message = `chain ${solana.chainId} is not in the books`;
			breaches.push({ invariant: "I2", message, chainIds: [solana.chainId] });
		} else {
			const balances = checkSolanaBalances(solana, { slot, reading, events, books: books.solana });
			reports.push(balances.report);
			checked.I1 += balances.report.tokens.length;
			checked.I2 += balances.report.tokens.length;
			breaches.push(...balances.breaches);
		}
	}

	const histories = orderHistories(allEvents);
	const service = { chains, solana: solana?.deployment, earlierAttesterSets };
	const refundedAt = await refundTimes(chains, ofService(histories, service).filter(isRefundWithoutVoid));
	const ours = { ...service, refundedAt };
	for (const history of histories.values()) breaches.push(...checkOrder(history, ours));
	for (const invariant of ["I3", "I4", "I5"] as const) checked[invariant] += histories.size;
	const known = new Set(books.swaps.map(({ orderId: id }) => id));
	for (const { chain, final } of perChain) {
		const refundable = await ofChain(
			chain,
			checkRefundable(chain, { histories: ofService(histories, ours), known, block: final }),
		);
		checked.I12 += refundable.checked;
		breaches.push(...refundable.breaches);
	}

	const orphans = [...histories.values()].filter(
		({ orderId: id, order, filled }) => filled.length > 0 && !order && !known.has(id),
	);
	// Of swaps that ended long ago a memory keeps nothing.
	const ended = await CouldNotCheckError.unless("the database", readOrdersOfSwaps(pool, orphans));
	const unknown = orphans.filter(({ orderId: id }) => !ended.has(id));
	breaches.push(...(await checkUnknownFills(chains, { histories: unknown, nowMs })));

	const exposed: ExposedChain[] = [
		...perChain.map(({ chain: { chainId, policy }, final }) => ({
			chainId,
			policy,
			finalAt: final.timestamp,
		})),
		...(solana ? [{ chainId: solana.chainId, policy: solana.policy, finalAt: undefined }] : []),
	];
	for (const swap of books.swaps) {
		const origin = exposed.find(({ chainId }) => BigInt(chainId) === swap.order.originChainId);
		const destination = exposed.find(({ chainId }) => BigInt(chainId) === swap.order.destinationChainId);
		const finalAt = { origin: origin?.finalAt, destination: destination?.finalAt };
		const bookedAt = {
			origin: books.bookedAt.get(Number(swap.order.originChainId)),
			destination: books.bookedAt.get(Number(swap.order.destinationChainId)),
		};
		breaches.push(
			...checkSwap(swap, {
				...{ history: histories.get(swap.orderId), finalAt, bookedAt, nowMs },
				workingSinceMs: Math.max(workingSinceMs, books.restoredAtMs ?? 0),
			}),
			...checkMoves(swap),
			...checkDepositDepth(swap, { policy: origin?.policy ?? {}, sightings: books.sightings, policySinceMs }),
		);
	}
	for (const invariant of ["I7", "I8", "I9", "I14"] as const) checked[invariant] += books.swaps.length;
	checked.I6 += books.swaps.reduce((sum, { decisions }) => sum + decisions.length, 0);
	const doubled = checkOnce(books.swaps, books);
	breaches.push(...doubled);
	checked.I11 += books.swaps.length + books.nonces.checked;
	const { swaps, events } = books;
	const exposure = checkExposure({ chains: exposed, swaps, events, histories, nowMs });
	breaches.push(...exposure.breaches);
	checked.I10 += exposure.checked.I10;
	checked.I15 += exposure.checked.I15;

	const isLookedAt = ({ orderId: id }: Finding) => id && (histories.has(id) || known.has(id));
	const found = new Set(breaches.map(keyOf));
	const before = (memory?.found ?? []).filter((one) => !isLookedAt(one) && !found.has(keyOf(one)));
	breaches.push(...before);
	const isRight = breaches.every((finding) => finding.pauses === false || isKnown(finding));
	if (memory && isRight) {
		const awaited = new Set(
			swaps
				.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > nowMs - clocksMs)
				.map(({ orderId: id }) => id),
		);
		for (const { chain, events: read, final } of perChain) {
			const kept = eventsToKeep(read, { histories, awaited });
			memory.chains.set(chain.chainId, { upTo: Number(final.number), events: kept });
		}
		memory.solana = history;
		for (const { orderId: id, order } of swaps) {
			if (isSolana(order.originChainId) || isSolana(order.destinationChainId))
				memory.solanaOrders.set(id, order);
		}
		// Balances and caps are looked at each time. Of orders, postings and nonces those that are over are not.
		const records = new Set([...unbalanced, ...doubled, ...before]);
		memory.found = breaches.filter(
			(finding) => finding.pauses !== false && (finding.orderId || records.has(finding)),
		);
		memory.clean = { atMs: nowMs, lastPosting: books.lastPosting };
	}
	return {
		ok: breaches.every(({ pauses }) => pauses === false),
		chains: reports,
		orders: histories.size,
		swaps: swaps.length,
		checked,
		breaches: breaches.map(breachOf),
		unattributedDeposits,
		...findLosses({ chains: exposed, swaps, histories, nowMs }),
	};
}

function keyOf({ invariant, message, orderId: id }: Finding): string {
	return `${invariant} ${message} ${id}`;
}

function ofChain<T>({ chainId }: { chainId: number }, asking: Promise<T>): Promise<T> {
	return CouldNotCheckError.unless(`chain ${chainId}`, asking);
}

async function finalBlock(
	{ chainId, client }: AuditedChain,
	{ bookedBlocks }: Books,
): Promise<{ number: bigint; timestamp: bigint }> {
	const { number, timestamp } = await client.getBlock({ blockTag: "finalized" });
	const booked = bookedBlocks.get(chainId) ?? 0;
	// It would seem as if what happened since had not.
	if (number < booked) throw new Error(`its node is at block ${number}, and the books at ${booked}`);
	return { number, timestamp };
}

function joined(before: ChainEvents | undefined, read: ChainEvents): ChainEvents {
	if (!before) return read;
	const kinds = Object.keys(read) as (keyof ChainEvents)[];
	return Object.fromEntries(kinds.map((kind) => [kind, [...before[kind], ...read[kind]]])) as ChainEvents;
}

function ofService(
	histories: ReadonlyMap<Hex, OrderHistory>,
	ours: Omit<Ours, "refundedAt">,
): OrderHistory[] {
	return [...histories.values()].filter(({ order }) => order && isOurs(order, ours));
}

function unattributed(
	{ chainId }: AuditedSolana,
	{ deposits }: SolanaEvents,
): Report["unattributedDeposits"] {
	return deposits
		.filter(({ isRefunded }) => !isRefunded)
		.map(({ orderId: id, wallet, token, amount, signature, slot }) => ({
			...{ chainId, orderId: id, wallet, token, amount: String(amount), slot },
			signature: getBase58Decoder().decode(hexToBytes(signature)),
		}));
}

/** All orders that the books or the contracts tell the terms of, or told an earlier audit. */
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

/** When inputs were refunded, by the clock of a chain where anyone can do so after `refundAfter`. */
async function refundTimes(
	chains: readonly AuditedChain[],
	histories: readonly OrderHistory[],
): Promise<Map<Hex, bigint>> {
	const refunds = histories.flatMap(({ orderId: id, refunded: [refund] }) => {
		const chain = chains.find(({ chainId }) => chainId === refund?.chainId);
		return chain && refund
			? [{ id, chain, block: refund.block, key: `${chain.chainId}:${refund.block}` }]
			: [];
	});
	const blocks = [...new Map(refunds.map((refund) => [refund.key, refund])).values()];
	const times = await inTurns(blocks, async ({ key, chain, block }): Promise<[string, bigint]> => {
		const { timestamp } = await ofChain(chain, chain.client.getBlock({ blockNumber: BigInt(block) }));
		return [key, timestamp];
	});
	const byBlock = new Map(times);
	return new Map(refunds.map(({ id, key }) => [id, byBlock.get(key) as bigint]));
}
