import { type Milliseconds, type Order, orderId, toSolanaWord } from "@geoswap/protocol";
import type pg from "pg";
import type { Hex } from "viem";
import { type AuditMemory, clocksMs, rememberAudit } from "./audit-memory.ts";
import { checkAllowances, checkBalances } from "./check/check-balances.ts";
import { checkDays } from "./check/check-days.ts";
import { checkExposure, type ExposedChain } from "./check/check-exposure.ts";
import { checkFillSigners, checkUnknownFills } from "./check/check-fill-signers.ts";
import { checkFlows, checkRelayers, checkSolanaWithdrawals } from "./check/check-flows.ts";
import { checkMoves } from "./check/check-moves.ts";
import { checkOnce } from "./check/check-once.ts";
import {
	checkOrder,
	checkOrderHoldings,
	isOurs,
	isRefundWithoutVoid,
	type Ours,
} from "./check/check-order.ts";
import { checkRefundable } from "./check/check-refundable.ts";
import { checkSolanaBalances } from "./check/check-solana-balances.ts";
import { checkSwaps } from "./check/check-swaps.ts";
import { findLosses, findOwed } from "./check/find-owed.ts";
import { type AuditedChain, connectAuditedChain } from "./read/audited-chain.ts";
import { type AuditedSolana, connectAuditedSolana } from "./read/audited-solana.ts";
import { type OrderHistory, orderHistories } from "./read/order-history.ts";
import { type Books, readBooks, readOrdersOfSwaps, readSigned } from "./read/read-books.ts";
import type { ChainEvents } from "./read/read-chain-events.ts";
import { readRefundTimes } from "./read/read-refund-times.ts";
import {
	breachOf,
	CouldNotCheckError,
	type Finding,
	type Invariant,
	invariants,
	type Report,
} from "./read/report.ts";
import { solanaEvents } from "./read/solana-events.ts";
import { readServiceChains, uncheckedUnless } from "./read-service-chains.ts";

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
	const earlierFeePayers = books.solana?.feePayers ?? [];
	const solana = solanaConfig && (await connectAuditedSolana({ ...solanaConfig, earlierFeePayers }));
	const unchecked = new Map<number, string>();
	const ofChain = uncheckedUnless(unchecked);
	const service = { chains, solana: solanaConfig?.deployment, earlierAttesterSets };
	const { perChain, inOrders, holdings, history } = await readServiceChains(
		{ chains, solana, service },
		{ books, known, memory, maxSolanaReads, unchecked, ofChain, nowMs },
	);
	const isRead = ({ chain }: { chain: AuditedChain }) => !unchecked.has(chain.chainId);
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
				checkRelayers(chain, { block, books }),
			]),
		);
		if (!found) continue;
		const [balances, allowances, relayers] = found;
		const flows = checkFlows(chain, { flows: reading.flows, books });
		const moves = checkMoves(chain, { moved: reading.flows.moved, block, books });
		const { count, uncounted } = reading.strangers;
		const { unlistedBlocks } = reading;
		const otherOrders = { open: count(), uncounted: uncounted(), unlistedBlocks };
		reports.push({ chainId: chain.chainId, block, tokens: balances.tokens, otherOrders });
		checked.I1 += balances.tokens.length;
		checked.I2 += balances.tokens.length;
		checked.I13 += allowances.checked;
		checked.T1 += flows.checked.T1;
		checked.T2 += flows.checked.T2;
		checked.T3 += relayers.checked;
		checked.T4 += moves.checked;
		breaches.push(...[balances, allowances, flows, relayers, moves].flatMap((one) => one.breaches));
	}
	const days = await CouldNotCheckError.unless(
		"the database",
		checkDays(pool, {
			tokens: offeredTokens(configs, solana),
			sinceMs: clean && clean.atMs - clocksMs,
			nowMs,
		}),
	);
	checked.I19 += days.checked;
	breaches.push(...days.breaches);
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
			const { flows } = books;
			const balances = checkSolanaBalances(solana, { slot, reading, events, books: books.solana, flows });
			const withdrawals = await checkSolanaWithdrawals(solana, { slot, events, books: books.solana, flows });
			if (inOrders) {
				breaches.push(...checkOrderHoldings(solana, { events: events.events, inOrders }));
			}
			const { strangers: transactions, undecodable } = history;
			reports.push({ ...balances.report, strangers: { transactions, undecodable } });
			checked.I1 += inOrders?.size ?? 0;
			checked.I2 += balances.report.tokens.length;
			checked.T1 += withdrawals.checked;
			checked.T3++;
			breaches.push(...balances.breaches, ...withdrawals.breaches);
		}
		allEvents.push(events.events);
		if (!unchecked.has(solana.chainId)) {
			breaches.push(...holdings.breaches, ...events.breaches);
		}
	}

	const histories = orderHistories(allEvents);
	const refundedAt = await readRefundTimes(
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
	const perSwap = checkSwaps(books, {
		chains: policies,
		histories,
		unchecked: ours.unchecked,
		owed: new Set(owed.map(({ orderId: id }) => id)),
		policySinceMs,
		workingSinceMs: Math.max(workingSinceMs, books.restoredAtMs ?? 0),
		nowMs,
	});
	breaches.push(...perSwap.breaches);
	checked.I7 += books.swaps.length;
	for (const invariant of ["I8", "I9", "I14"] as const) checked[invariant] += perSwap.judged;
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
		rememberAudit(memory, {
			books,
			readings: perChain.filter(isRead).map(({ reading }) => reading),
			histories,
			isComplete: unchecked.size === 0,
			nowMs,
		});
		// Balances and caps are checked each time. Orders, postings and nonces that are over are not.
		const records = new Set([...unbalanced, ...doubled, ...before]);
		memory.found = breaches.filter(
			(finding) => finding.pauses !== false && (finding.orderId || records.has(finding)),
		);
	}
	return {
		ok: breaches.every(({ pauses }) => pauses === false),
		unchecked: [...unchecked].map(([chainId, why]) => ({ chainId, why })),
		leftChains: countsOf(perSwap.leftChains),
		chains: reports,
		orders: histories.size,
		swaps: swaps.length,
		checked,
		breaches: breaches.map(breachOf),
		owed,
		...findLosses({ chains: exposed, swaps, histories, nowMs }),
	};
}

function offeredTokens(
	chains: ReconcileOptions["chains"],
	solana: AuditedSolana | undefined,
): Parameters<typeof checkDays>[1]["tokens"] {
	return [
		...chains.flatMap(({ chainId, deployment: { assets } }) =>
			assets.map(({ address, symbol, decimals }) => ({
				chainId,
				token: address.slice(2).toLowerCase(),
				symbol,
				decimals,
			})),
		),
		...(solana?.deployment.assets ?? []).map(({ address, symbol, decimals }) => ({
			chainId: solana?.chainId ?? 0,
			token: toSolanaWord(address).slice(2),
			symbol,
			decimals,
		})),
	];
}

function countsOf(chainIds: readonly bigint[]): Report["leftChains"] {
	const counts = new Map<number, number>();
	for (const id of chainIds) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
	return [...counts].map(([chainId, swaps]) => ({ chainId, swaps }));
}

function keyOf({ invariant, message, orderId: id }: Finding): string {
	return `${invariant} ${message} ${id}`;
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
