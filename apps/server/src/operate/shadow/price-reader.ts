import { lesser, type Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { TransactionShape } from "../../chain/evm/fee/fee-model.ts";
import type { BlockPrices, Ladder } from "../../chain/evm/read/read-block-prices.ts";
import type { JournalChain, JournalLine } from "./journal.ts";

// Shares no arithmetic with the desk and the price book, so that a check of a journal finds their mistakes.

const blocksThatCount = 3;
/** Units of input and of output that a pool may round away between two recorded sizes. */
const roundedAway = 4n;

/** Values at recorded prices. USD has 18 decimals. */
export type PriceReader = {
	/** Takes over prices, and the time of any line. */
	read: (line: JournalLine) => void;
	/** Returns the price of a whole token by its feed. */
	usdE18: (chain: JournalChain, token: Hex) => bigint;
	/** Returns the settlement tokens that an amount sells for; undefined beyond the recorded sizes. */
	proceeds: (chain: JournalChain, token: Hex, amount: bigint) => bigint | undefined;
	/** Returns the value of an amount received, at most what it sells for. */
	received: (chain: JournalChain, token: Hex, amount: bigint) => bigint;
	/** Returns the value of an amount given, rounded up. */
	given: (chain: JournalChain, token: Hex, amount: bigint) => bigint;
	/** Returns what a transaction costs on an EVM chain at the newest recorded fees. */
	cost: (chain: JournalChain, transaction: TransactionShape) => bigint;
	/** Returns the value of a fee, rounded up. */
	fee: (chain: JournalChain, amount: bigint) => bigint;
};

/** Reads prices of a journal line by line. */
export function createPriceReader({ feedMarginBps }: { feedMarginBps: number }): PriceReader {
	/** By chain, the newest first. */
	const blocks = new Map<number, BlockPrices[]>();
	/** The quoter's last answers for sales on Solana, by token. */
	const sales = new Map<Hex, { rungs: Ladder["rungs"]; askedAtMs: Milliseconds }>();
	let clockMs = 0;
	return {
		read: (line) => {
			clockMs = line.atMs;
			if (line.kind === "quoter" && line.direction === "sell") sales.set(line.asset, line);
			if (line.kind !== "prices") return;
			const before = blocks.get(line.prices.chainId) ?? [];
			blocks.set(line.prices.chainId, [line.prices, ...before.slice(0, blocksThatCount - 1)]);
		},
		usdE18,
		proceeds,
		received: (chain, token, amount) => {
			const sold = proceeds(chain, token, amount);
			return sold === undefined ? worth(chain, token, amount) : worth(chain, chain.settlementToken, sold);
		},
		given: (chain, token, amount) =>
			roundUp(amount * usdE18(chain, token), 10n ** BigInt(decimalsOf(chain, token))),
		cost: (chain, transaction) => {
			const fees = blocks.get(chain.chainId)?.[0]?.fees;
			if (!fees) throw new RangeError(`the journal has no fees of ${chain.name} yet`);
			return costOf(chain, fees, transaction);
		},
		fee: (chain, amount) =>
			roundUp(amount * usdE18(chain, chain.native), 10n ** BigInt(chain.nativeDecimals)),
	};

	function usdE18(chain: JournalChain, token: Hex): bigint {
		const newest = blocks.get(chain.chainId)?.[0];
		const feed = assetOf(chain, token).feed;
		const answer =
			chain.kind !== "solana"
				? newest?.assets.get(token)?.feed
				: feed && blocks.get(feed.chainId)?.[0]?.feeds.get(feed.address);
		if (!answer) throw new RangeError(`the journal has no price of ${token} on ${chain.name} yet`);
		return answer.usdE18;
	}

	function worth(chain: JournalChain, token: Hex, amount: bigint): bigint {
		return (amount * usdE18(chain, token)) / 10n ** BigInt(decimalsOf(chain, token));
	}

	function proceeds(chain: JournalChain, token: Hex, amount: bigint): bigint | undefined {
		if (token === chain.settlementToken) return amount;
		const from = usdE18(chain, token) * 10n ** BigInt(decimalsOf(chain, chain.settlementToken));
		const to = usdE18(chain, chain.settlementToken) * 10n ** BigInt(decimalsOf(chain, token));
		const fair = (amount * from) / to;
		const most = (fair * BigInt(10_000 + feedMarginBps)) / 10_000n;
		if (chain.kind === "solana") return proceedsOnSolana(chain, token, { amount, fair, most });
		// The worst of the last blocks counts, each at its best pool.
		const paid = (blocks.get(chain.chainId) ?? []).map((block) =>
			best((block.assets.get(token)?.sell ?? []).map((ladder) => paidBy(ladder, amount))),
		);
		if (paid.some((output) => output === undefined)) return undefined;
		return [most, ...paid.map((output) => output ?? 0n)].reduce(lesser);
	}

	/** Returns the fair price less the spread, or the answer of the quoter less its margin while that is fresh. */
	function proceedsOnSolana(
		{ spreadBps, quoter }: JournalChain,
		token: Hex,
		{ amount, fair, most }: { amount: bigint; fair: bigint; most: bigint },
	): bigint {
		const bySpread = less(fair, spreadBps?.[token]);
		const sale = sales.get(token);
		const top = sale?.rungs.at(-1);
		if (!quoter || !sale || !top || clockMs - sale.askedAtMs > quoter.maxAgeMs) return bySpread;
		const margin = quoter.marginBps[token];
		const paid = paidBy(sale, amount);
		if (paid === undefined) return lesser(bySpread, less((amount * top.output) / top.input, margin));
		return lesser(less(paid, margin), most);
	}
}

/** Takes basis points off an amount. */
function less(amount: bigint, bps = 0): bigint {
	return (amount * BigInt(10_000 - bps)) / 10_000n;
}

/** Returns the gas at its price, and what the chain charges for data: by Fjord's formula, or by the byte. */
function costOf(
	{ kind }: JournalChain,
	{ baseFee, tip, l1 }: BlockPrices["fees"],
	{ gas, fastLzBytes, brotliBytes }: TransactionShape,
): bigint {
	const pico = 10n ** 12n;
	if (kind === "arbitrum") return gas * baseFee + roundUp(BigInt(brotliBytes) * l1.picoWeiPerDataUnit, pico);
	if (kind !== "op-stack") return gas * (baseFee + tip);
	const estimated = BigInt(fastLzBytes) * 836_500n - 42_585_600n;
	const data = (estimated < 100_000_000n ? 100_000_000n : estimated) * l1.picoWeiPerDataUnit;
	const operator = roundUp(gas * l1.operatorWeiPerMillionGas, 1_000_000n) + l1.operatorWei;
	return gas * (baseFee + tip) + roundUp(data, pico) + operator;
}

/** Returns what a ladder pays at least: on the straight line between the recorded sizes beside the amount. */
function paidBy({ rungs }: Pick<Ladder, "rungs">, amount: bigint): bigint | undefined {
	const top = rungs.at(-1);
	if (!top || amount > top.input) return undefined;
	const x = amount - roundedAway;
	if (x <= 0n) return 0n;
	let below = { input: 0n, output: 0n };
	for (const above of rungs) {
		if (x > above.input) {
			below = above;
			continue;
		}
		const rise = ((above.output - below.output) * (x - below.input)) / (above.input - below.input);
		const paid = below.output + rise - roundedAway;
		return paid > 0n ? paid : 0n;
	}
	return undefined;
}

function best(outputs: readonly (bigint | undefined)[]): bigint | undefined {
	return outputs.reduce(
		(most, output) => (output !== undefined && (most === undefined || output > most) ? output : most),
		undefined,
	);
}

function assetOf({ name, assets }: JournalChain, token: Hex): JournalChain["assets"][number] {
	const asset = assets.find((candidate) => candidate.token === token);
	if (!asset) throw new RangeError(`${name} has no asset ${token}`);
	return asset;
}

function decimalsOf(chain: JournalChain, token: Hex): number {
	return assetOf(chain, token).decimals;
}

function roundUp(dividend: bigint, divisor: bigint): bigint {
	return (dividend + divisor - 1n) / divisor;
}
