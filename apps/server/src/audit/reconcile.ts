import { type Order, orderId } from "@geoswap/protocol";
import type pg from "pg";
import type { Hex } from "viem";
import { type AuditedChain, connectAuditedChain } from "./audited-chain.ts";
import { connectAuditedSolana, finalHoldings } from "./audited-solana.ts";
import { checkAllowances } from "./check-allowances.ts";
import { checkBalances } from "./check-balances.ts";
import { checkOrder, isEarlyRefund } from "./check-order.ts";
import { checkSolanaBalances } from "./check-solana-balances.ts";
import { checkSwap } from "./check-swap.ts";
import { type OrderHistory, orderHistories } from "./order-history.ts";
import { type Books, readBooks } from "./read-books.ts";
import { type ChainEvents, readChainEvents } from "./read-chain-events.ts";
import { readSolanaTransactions } from "./read-solana-transactions.ts";
import type { Breach, Report } from "./report.ts";
import { solanaEvents } from "./solana-events.ts";

/**
 * Checks the books against the chains, with SQL and decoding of its own, so that it does not repeat a mistake of what
 * it checks. Each chain is read as of the block up to which it is booked.
 */
export async function reconcile({
	pool,
	chains: configs,
	solana: solanaConfig,
	earlierAttesterSets,
	nowMs,
}: {
	pool: pg.Pool;
	chains: readonly Parameters<typeof connectAuditedChain>[0][];
	/** Absent where Solana is not offered. */
	solana?: Omit<Parameters<typeof connectAuditedSolana>[0], "earlierFeePayers"> | undefined;
	/** Hashes of the sets that orders of before name. */
	earlierAttesterSets: readonly Hex[];
	nowMs: number;
}): Promise<Report> {
	const books = await readBooks(pool);
	const chains = configs.map(connectAuditedChain);
	const earlierFeePayers = books.solana?.feePayers ?? [];
	const solana = solanaConfig && (await connectAuditedSolana({ ...solanaConfig, earlierFeePayers }));
	// Read after the books, and up to what is final by now: a delivery is final before its release is booked. How far
	// that is on each chain is asked at once, and the rest takes the time that it takes.
	const [finals, holdings] = await Promise.all([
		Promise.all(chains.map(({ client }) => client.getBlock({ blockTag: "finalized" }))),
		solana && finalHoldings(solana, { minSlot: books.bookedBlocks.get(solana.chainId) ?? 0 }),
	]);
	const [perChain, transactions] = await Promise.all([
		Promise.all(
			chains.map(async (chain, i) => {
				const events = await readChainEvents(chain, { toBlock: Number(finals[i]?.number) });
				return { chain, events, block: books.bookedBlocks.get(chain.chainId) };
			}),
		),
		solana ? readSolanaTransactions(solana) : [],
	]);
	const breaches: Breach[] = books.unbalanced.map((key) => ({
		invariant: "I2",
		message: `posting ${key} does not add up`,
	}));
	const reports: Report["chains"] = [];
	for (const { chain, events, block } of perChain) {
		if (block === undefined) {
			breaches.push({ invariant: "I2", message: `chain ${chain.chainId} is not in the books` });
			continue;
		}
		const balances = await checkBalances(chain, { block, events, books });
		reports.push({ chainId: chain.chainId, block, tokens: balances.tokens });
		breaches.push(...balances.breaches, ...(await checkAllowances(chain, { swaps: books.swaps, block })));
	}
	const allEvents = perChain.map(({ events }) => events);
	if (solana && holdings) {
		const reading = { ...holdings, transactions: transactions.filter(({ slot }) => slot <= holdings.slot) };
		const orders = knownOrders(books, allEvents);
		const events = await solanaEvents(solana, { transactions: reading.transactions, orders });
		allEvents.push(events.events);
		breaches.push(...holdings.breaches, ...events.breaches);
		const slot = books.bookedBlocks.get(solana.chainId);
		if (slot === undefined || !books.solana) {
			breaches.push({ invariant: "I2", message: `chain ${solana.chainId} is not in the books` });
		} else {
			const balances = checkSolanaBalances(solana, { slot, reading, events, books: books.solana });
			reports.push(balances.report);
			breaches.push(...balances.breaches);
		}
	}
	const histories = orderHistories(allEvents);
	const refundedAt = await refundTimes(chains, [...histories.values()].filter(isEarlyRefund));
	const ours = { chains, solana: solana?.deployment, earlierAttesterSets, refundedAt };
	for (const history of histories.values()) breaches.push(...checkOrder(history, ours));
	for (const swap of books.swaps) {
		breaches.push(...checkSwap(swap, { history: histories.get(swap.orderId), nowMs }));
	}
	return {
		ok: breaches.length === 0,
		chains: reports,
		orders: histories.size,
		swaps: books.swaps.length,
		breaches,
	};
}

/** All orders that the books or the contracts tell the terms of. */
function knownOrders({ swaps }: Books, events: readonly ChainEvents[]): Order[] {
	const orders = [
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
	const times = new Map<Hex, bigint>();
	for (const { orderId: id, refunded } of histories) {
		const [refund] = refunded;
		const chain = chains.find(({ chainId }) => chainId === refund?.chainId);
		if (!chain || !refund) continue;
		const { timestamp } = await chain.client.getBlock({ blockNumber: BigInt(refund.block) });
		times.set(id, timestamp);
	}
	return times;
}
