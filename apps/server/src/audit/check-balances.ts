import { fromWord } from "@geoswap/protocol";
import { type Address, getAddress, isAddressEqual } from "viem";
import { type AuditedChain, balancesAt } from "./audited-chain.ts";
import { type Books, stockKey } from "./read-books.ts";
import type { ChainEvents } from "./read-chain-events.ts";
import type { Finding, TokenReport } from "./report.ts";

const mostStrangeTokens = 50;

/** I1 and I2: what escrows and vaults hold at a block is what orders and books account for. */
export async function checkBalances(
	chain: AuditedChain,
	{ block, events, books }: { block: number; events: ChainEvents; books: Books },
): Promise<{ tokens: TokenReport[]; breaches: Finding[] }> {
	const { chainId, deployment, escrows, vaults } = chain;
	const assets = deployment.assets.map((asset) => asset.address);
	const opened = events.opened.map(({ order }) => fromWord(order.inputToken));
	const listed = [...new Set(assets.map((token) => getAddress(token)))];
	const others = [...new Set(opened.map((token) => getAddress(token)))].filter(
		(token) => !listed.includes(token),
	);
	const holders = [...escrows, ...vaults];
	const [ofListed, ofOthers] = await Promise.all([
		balancesAt(chain, { tokens: listed, holders, block }),
		// Anyone may open an order with a token of their own, which answers as it likes.
		balancesAt(chain, { tokens: others.slice(0, mostStrangeTokens), holders, block }).catch(() => []),
	]);
	const tokens = [...listed, ...others.slice(0, ofOthers.length)];
	const inEscrows = [...ofListed, ...ofOthers].map((held) => held.slice(0, escrows.length));
	const inVaults = [...ofListed, ...ofOthers].map((held) => held.slice(escrows.length));
	const breaches: Finding[] = [];
	const reports = tokens.map((token, i): TokenReport => {
		const symbol = deployment.assets.find((asset) => asset.address === token)?.symbol ?? token;
		const held = inEscrows[i] ?? [];
		const owed = escrows.map((escrow) => owedBy(events, { escrow, token, block }));
		let donated = 0n;
		escrows.forEach((escrow, j) => {
			const surplus = (held[j] ?? 0n) - (owed[j] ?? 0n);
			if (surplus >= 0n) donated += surplus;
			else {
				const message = `escrow ${escrow} on chain ${chainId} is short of ${-surplus} ${symbol}`;
				breaches.push({
					...{ invariant: "I1", message, chainIds: [chainId], token, amount: String(-surplus) },
					...(listed.includes(token) ? {} : { pauses: false }),
				});
			}
		});
		const stockBooked = books.stock.get(stockKey(chainId, token)) ?? 0n;
		const stockActual = sum(inVaults[i] ?? []);
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

/** Inputs of orders that are open at the block, and credits that are not claimed. */
function owedBy(
	{ opened, released, refunded, credited, claimed }: ChainEvents,
	{ escrow, token, block }: { escrow: Address; token: Address; block: number },
): bigint {
	const isThen = (event: { block: number }) => event.block <= block;
	const decided = new Set([...released, ...refunded].filter(isThen).map(({ orderId }) => orderId));
	const open = opened
		.filter(isThen)
		.filter(({ orderId }) => !decided.has(orderId))
		.filter(({ order }) => isAddressEqual(fromWord(order.escrow), escrow))
		.filter(({ order }) => isAddressEqual(fromWord(order.inputToken), token))
		.map(({ order }) => order.inputAmount);
	const amounts = (list: ChainEvents["credited"]) =>
		list
			.filter(isThen)
			.filter((credit) => isAddressEqual(credit.escrow, escrow) && isAddressEqual(credit.token, token))
			.map(({ amount }) => amount);
	return sum(open) + sum(amounts(credited)) - sum(amounts(claimed));
}

function sum(amounts: readonly bigint[]): bigint {
	return amounts.reduce((total, amount) => total + amount, 0n);
}
