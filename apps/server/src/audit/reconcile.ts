import type { ChainDeployment } from "@geoswap/protocol";
import type pg from "pg";
import type { Hex } from "viem";
import { connectAuditedChain } from "./audited-chain.ts";
import { checkAllowances } from "./check-allowances.ts";
import { checkBalances } from "./check-balances.ts";
import { checkOrder } from "./check-order.ts";
import { checkSwap } from "./check-swap.ts";
import { orderHistories } from "./order-history.ts";
import { readBooks } from "./read-books.ts";
import { readChainEvents } from "./read-chain-events.ts";
import type { Breach, Report } from "./report.ts";

/**
 * Checks the books against the chains, with SQL and decoding of its own, so that it does not repeat a mistake of what
 * it checks. Each chain is read as of the block up to which it is booked.
 */
export async function reconcile({
	pool,
	chains: configs,
	earlierAttesterSets,
	nowMs,
}: {
	pool: pg.Pool;
	chains: readonly { chainId: number; rpcUrl: string; deployment: ChainDeployment }[];
	/** Hashes of the sets that orders of before name. */
	earlierAttesterSets: readonly Hex[];
	nowMs: number;
}): Promise<Report> {
	const books = await readBooks(pool);
	const chains = configs.map(connectAuditedChain);
	// Read after the books, and up to what is final by now: a delivery is final before its release is booked.
	const perChain = await Promise.all(
		chains.map(async (chain) => {
			const { number } = await chain.client.getBlock({ blockTag: "finalized" });
			const events = await readChainEvents(chain, { toBlock: Number(number) });
			return { chain, events, block: books.bookedBlocks.get(chain.chainId) };
		}),
	);
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
	const histories = orderHistories(perChain.map(({ events }) => events));
	for (const history of histories.values())
		breaches.push(...checkOrder(history, { chains, earlierAttesterSets }));
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
