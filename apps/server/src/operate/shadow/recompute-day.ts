import { lesser } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Delivery } from "../../swap/facts/swap-record.ts";
import type { JournalChain, JournalLine, SwapLine } from "./journal.ts";
import { createPriceReader, type PriceReader } from "./price-reader.ts";

// Made without the paper books: from the recorded prices, and from what happened to each swap.

/** The sums of a day. USD has 18 decimals; a holding's name is chain:token. */
export type RecomputedDay = {
	filled: number;
	volumeE18: bigint;
	earnedE18: bigint;
	feesE18: bigint;
	netE18: bigint;
	earnedByPair: Map<string, bigint>;
	held: Map<string, bigint>;
	inEscrow: Map<string, bigint>;
};

type Start = Extract<JournalLine, { kind: "start" }>;
type Quoted = Extract<SwapLine, { kind: "quoted" }>;

/** Recomputes a day's sums from its journal. Skips the lines of its books. Throws if the journal has no start. */
export function recomputeDay(lines: Iterable<JournalLine>): RecomputedDay {
	const sums = { filled: 0, volumeE18: 0n, feesE18: 0n };
	const earned = new Map<string, bigint>();
	const held = new Map<string, bigint>();
	const inEscrow = new Map<string, bigint>();
	const reserved = new Map<number, { of: string; amount: bigint }>();
	const quotes = new Map<number, Quoted>();
	let start: Start | undefined;
	let reader: PriceReader | undefined;
	for (const line of lines) {
		if (line.kind === "start") {
			start = line;
			reader = createPriceReader(line);
			for (const { amount, ...of } of line.stock) change(held, of, amount);
			continue;
		}
		if (!start || !reader) throw new RangeError("a journal begins with a line of the kind start");
		reader.read(line);
		switch (line.kind) {
			case "quoted":
				quotes.set(line.swap, line);
				break;
			case "submitted": {
				const { delivery } = line;
				const rent = delivery.kind === "payout" ? delivery.unusedRent : 0n;
				reserved.set(line.swap, { of: keyOf(paidIn(line.swap)), amount: paidOf(delivery) + rent });
				break;
			}
			case "refunded":
				reserved.delete(line.swap);
				break;
			case "filled": {
				const { input } = quoteOf(line.swap);
				const { chainId, token } = paidIn(line.swap);
				const to = chainOf(chainId);
				const paid = paidOf(line.delivery);
				reserved.delete(line.swap);
				const received = reader.received(chainOf(input.chainId), input.token, input.amount);
				change(held, { chainId: to.chainId, token }, -paid);
				change(inEscrow, input, input.amount);
				sums.filled += 1;
				sums.volumeE18 += received;
				add(earned, pairOf(line.swap), received - reader.given(to, token, paid));
				break;
			}
			case "released": {
				const { input } = quoteOf(line.swap);
				change(inEscrow, input, -input.amount);
				change(held, input, input.amount);
				break;
			}
			case "sent": {
				const chain = chainOf(line.chainId);
				const fee = line.transaction ? reader.cost(chain, line.transaction) : line.fee;
				const valueE18 = reader.fee(chain, fee);
				sums.feesE18 += valueE18;
				add(earned, pairOf(line.swap), -valueE18);
				break;
			}
			case "restocked":
				restock(start, reader);
				break;
		}
	}
	if (!start || !reader) throw new RangeError("the journal is empty");
	return {
		...sums,
		earnedE18: [...earned.values()].reduce((sum, one) => sum + one, 0n),
		netE18: gained(start, reader) - sums.feesE18,
		earnedByPair: earned,
		held,
		inEscrow,
	};

	/** Returns the value of all that is held more than at the start, at the newest prices. */
	function gained({ chains }: Start, prices: PriceReader): bigint {
		let valueE18 = 0n;
		for (const chain of chains) {
			for (const { token } of chain.assets) {
				const key = `${chain.chainId}:${token}`;
				const more = surplus(chain, token) + (inEscrow.get(key) ?? 0n);
				valueE18 += more < 0n ? -prices.given(chain, token, -more) : prices.received(chain, token, more);
			}
		}
		return valueE18;
	}

	/** Sells inputs, moves settlement tokens, and buys what is missing: in this order, as the terms say. */
	function restock({ chains, terms }: Start, prices: PriceReader): void {
		const cost = BigInt(terms.restockBps);
		for (const chain of chains) {
			for (const { token } of chain.assets) {
				const more = spare(chain, token);
				if (token === chain.settlementToken || more <= 0n) continue;
				const sold = prices.proceeds(chain, token, more);
				if (sold === undefined || sold === 0n) continue;
				change(held, { chainId: chain.chainId, token }, -more);
				change(held, { chainId: chain.chainId, token: chain.settlementToken }, sold);
			}
		}
		for (const to of chains) {
			for (const from of chains) {
				const more = spare(from, from.settlementToken);
				const less = -surplus(to, to.settlementToken);
				if (more <= 0n || less <= 0n) continue;
				const [give, get] = [unitE36(prices, from), unitE36(prices, to)];
				const wanted = up(up(less * get, give) * 10_000n, 10_000n - cost);
				const sent = lesser(wanted, more);
				change(held, { chainId: from.chainId, token: from.settlementToken }, -sent);
				const arrived = (((sent * give) / get) * (10_000n - cost)) / 10_000n;
				change(held, { chainId: to.chainId, token: to.settlementToken }, arrived);
			}
		}
		for (const chain of chains) {
			for (const { token } of chain.assets) {
				const less = -surplus(chain, token);
				if (token === chain.settlementToken || less <= 0n) continue;
				const fair = up(less * unitE36(prices, chain, token), unitE36(prices, chain));
				const price = up(fair * (10_000n + cost), 10_000n);
				const settlement = { chainId: chain.chainId, token: chain.settlementToken };
				if (price > free(keyOf(settlement))) continue;
				change(held, settlement, -price);
				change(held, { chainId: chain.chainId, token }, less);
			}
		}
	}

	function surplus({ chainId }: JournalChain, token: Hex): bigint {
		const before = start?.stock.find((of) => of.chainId === chainId && of.token === token)?.amount ?? 0n;
		return (held.get(keyOf({ chainId, token })) ?? 0n) - before;
	}

	function spare(chain: JournalChain, token: Hex): bigint {
		return lesser(surplus(chain, token), free(`${chain.chainId}:${token}`));
	}

	function free(of: string): bigint {
		const taken = [...reserved.values()].filter((other) => other.of === of);
		return (held.get(of) ?? 0n) - taken.reduce((sum, { amount }) => sum + amount, 0n);
	}

	/** Returns the token that a swap takes from a vault. */
	function paidIn(swap: number): { chainId: number; token: Hex } {
		const { chainId, token } = quoteOf(swap).output;
		const { kind, settlementToken } = chainOf(chainId);
		return { chainId, token: kind === "solana" ? token : settlementToken };
	}

	function quoteOf(swap: number): Quoted {
		const quoted = quotes.get(swap);
		if (!quoted) throw new RangeError(`the journal has no quote of swap ${swap}`);
		return quoted;
	}

	function pairOf(swap: number): string {
		const { input, output } = quoteOf(swap);
		const [from, to] = [input, output].map(({ chainId, token }) => {
			const { name, assets } = chainOf(chainId);
			return `${assets.find((asset) => asset.token === token)?.symbol} on ${name}`;
		});
		return `${from} to ${to}`;
	}

	function chainOf(chainId: number): JournalChain {
		const chain = start?.chains.find((candidate) => candidate.chainId === chainId);
		if (!chain) throw new RangeError(`the journal has no chain ${chainId}`);
		return chain;
	}
}

/** Returns the value of a token's smallest unit in USD with 36 decimals more than its price needs: exact for 36. */
function unitE36(prices: PriceReader, chain: JournalChain, token: Hex = chain.settlementToken): bigint {
	const { decimals } = chain.assets.find((asset) => asset.token === token) ?? { decimals: 0 };
	return prices.usdE18(chain, token) * 10n ** BigInt(36 - decimals);
}

function paidOf(delivery: Delivery): bigint {
	return delivery.kind === "router" ? delivery.budget : delivery.amount;
}

function change(holdings: Map<string, bigint>, of: { chainId: number; token: Hex }, amount: bigint): void {
	add(holdings, keyOf(of), amount);
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
	sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function keyOf({ chainId, token }: { chainId: number; token: Hex }): string {
	return `${chainId}:${token}`;
}

function up(dividend: bigint, divisor: bigint): bigint {
	return (dividend + divisor - 1n) / divisor;
}
