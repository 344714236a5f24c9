import { type Amount, toWord } from "@geoswap/protocol";
import { getAddress, type Hex } from "viem";
import { type AuditedChain, balancesAt } from "../read/audited-chain.ts";
import { type Books, stockKey } from "../read/read-books.ts";
import type { ChainEvents } from "../read/read-chain-events.ts";
import type { Finding, TokenReport } from "../read/report.ts";

/**
 * I1 and I2: at a given block, the balances of escrows and vaults match the orders and the books. Checks only tokens of
 * the deployment: anyone may open an order with a token of their own, which can report any balance.
 */
export async function checkBalances(
	chain: AuditedChain,
	{ block, events, books }: { block: number; events: ChainEvents; books: Books },
): Promise<{ tokens: TokenReport[]; breaches: Finding[] }> {
	const { chainId, deployment, escrows, vaults } = chain;
	const tokens = [...new Set(deployment.assets.map((asset) => getAddress(asset.address)))];
	const holders = [...escrows, ...vaults];
	const balances = await balancesAt(chain, { tokens, holders, block });
	const owedOf = owedAt(events, block);
	const breaches: Finding[] = [];
	const reports = tokens.map((token, i): TokenReport => {
		const symbol = deployment.assets.find((asset) => getAddress(asset.address) === token)?.symbol ?? token;
		const held = balances[i]?.slice(0, escrows.length) ?? [];
		const owed = escrows.map((escrow) => owedOf.get(holdingKey(toWord(escrow), toWord(token))) ?? 0n);
		let donated = 0n;
		escrows.forEach((escrow, j) => {
			const surplus = (held[j] ?? 0n) - (owed[j] ?? 0n);
			if (surplus >= 0n) donated += surplus;
			else {
				const message = `escrow ${escrow} on chain ${chainId} is short of ${-surplus} ${symbol}`;
				breaches.push({ invariant: "I1", message, chainIds: [chainId], token, amount: String(-surplus) });
			}
		});
		const stockBooked = books.stock.get(stockKey(chainId, token)) ?? 0n;
		const stockActual = sum(balances[i]?.slice(escrows.length) ?? []);
		if (stockActual < stockBooked) {
			const message = `the vaults on chain ${chainId} hold ${stockBooked - stockActual} ${symbol} less than the books say`;
			const amount = String(stockBooked - stockActual);
			breaches.push({ invariant: "I2", message, chainIds: [chainId], token, amount });
		}
		return {
			token,
			symbol,
			escrowExpected: String(sum(owed)),
			escrowActual: String(sum(held)),
			stockBooked: String(stockBooked),
			stockActual: String(stockActual),
			donated: String(donated),
			unbooked: String(stockActual > stockBooked ? stockActual - stockBooked : 0n),
		};
	});
	return { tokens: reports, breaches };
}

/** Sums, by escrow and token, the inputs of orders that are open at the block and the credits that are not claimed. */
function owedAt(
	{ opened, released, refunded, credited, claimed }: ChainEvents,
	upTo: number,
): Map<string, bigint> {
	const isThen = ({ block }: { block: number }) => block <= upTo;
	const decided = new Set([...released, ...refunded].filter(isThen).map(({ orderId }) => orderId));
	const sums = new Map<string, bigint>();
	const add = (key: string, amount: Amount) => sums.set(key, (sums.get(key) ?? 0n) + amount);
	for (const { orderId, order } of opened.filter(isThen)) {
		if (!decided.has(orderId)) add(holdingKey(order.escrow, order.inputToken), order.inputAmount);
	}
	for (const [credits, sign] of [
		[credited, 1n],
		[claimed, -1n],
	] as const) {
		for (const { escrow, token, amount } of credits.filter(isThen)) {
			add(holdingKey(toWord(escrow), toWord(token)), sign * amount);
		}
	}
	return sums;
}

function holdingKey(escrow: Hex, token: Hex): string {
	return `${escrow}:${token}`.toLowerCase();
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}
