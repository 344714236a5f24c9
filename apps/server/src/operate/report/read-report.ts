import { addressOfWord, type Milliseconds } from "@geoswap/protocol";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import type { Database } from "../../database/database.ts";
import { dayOf } from "../../money/profit/close-day.ts";
import {
	type DecimalsOf,
	decimalsOfBooks,
	type MissingDay,
	readClosedPeriods,
	readMissingDays,
	readOpenPeriods,
} from "../../money/profit/read-periods.ts";
import { type Profit, readProfit, type SwapProfit } from "../../money/profit/read-profit.ts";
import type { Period } from "../../money/profit/tally.ts";

const dayMs = 86_400_000;

/** Closed days, or what is booked since the last closed day of each chain. */
export type Range = { kind: "closed"; days: readonly string[] } | { kind: "today"; day: string };

export type Report = Profit & {
	range: Range;
	/** Chains without closed books for a day. */
	missing: readonly MissingDay[];
};

/** Returns the day before a moment's. */
export function yesterdayOf(nowMs: Milliseconds): string {
	return dayOf((nowMs - dayMs) / 1_000);
}

/** Returns so many days in a row. The first one is as in 2026-11-30. */
export function daysFrom(first: string, count: number): string[] {
	const startMs = Date.parse(`${first}T00:00:00Z`);
	return Array.from({ length: count }, (_, i) => dayOf((startMs + i * dayMs) / 1_000));
}

/** Reads the books of a range, as far as they are there. Must be called on one snapshot of the database. */
export async function readPeriods(
	db: Database,
	{ range, decimalsOf }: { range: Range; decimalsOf: DecimalsOf },
): Promise<{ periods: Period[]; missing: MissingDay[] }> {
	if (range.kind === "today")
		return { periods: await readOpenPeriods(db, { day: range.day, decimalsOf }), missing: [] };
	return {
		periods: await readClosedPeriods(db, range.days),
		missing: await readMissingDays(db, range.days),
	};
}

/** Reads what the desk earned in a range. Must be called on one snapshot of the database. */
export async function readReport(
	db: Database,
	{ range, config }: { range: Range; config: Pick<Config, "chains"> },
): Promise<Report> {
	const decimalsOf = decimalsOfBooks(configuredAssets(config));
	const { periods, missing } = await readPeriods(db, { range, decimalsOf });
	return { ...(await readProfit(db, { periods, decimalsOf })), range, missing };
}

/** What swaps with something in common earned. Values are integers of 10^-36 USD. */
export type SwapSums = {
	name: string;
	swaps: number;
	fee36: bigint;
	skew36: bigint;
	gas36: bigint;
	price36: bigint;
	underWay36: bigint;
	/** Everything but what is under way. */
	earned36: bigint;
};

export type SwapKey = "pair" | "chain" | "account";

/** Adds up swaps by what they have in common; those that earned most come first. */
export function groupSwaps(
	profits: readonly SwapProfit[],
	{ by, chainNames }: { by: SwapKey; chainNames: ChainNames },
): SwapSums[] {
	const groups = Map.groupBy(profits, ({ swap }) => {
		if (!swap) return "orders without a swap";
		if (by === "account") return swap.account ?? swap.accountId ?? "no account";
		const { order } = swap;
		const [origin, destination] = [Number(order.originChainId), Number(order.destinationChainId)];
		if (by === "chain") return `${chainNames.name(origin)} → ${chainNames.name(destination)}`;
		const input = chainNames.tokens(origin, addressOfWord(origin, order.inputToken), 0n);
		const output = chainNames.tokens(destination, addressOfWord(destination, order.outputToken), 0n);
		return `${input.symbol} → ${output.symbol}`;
	});
	return [...groups]
		.map(([name, some]) => sumOf(name, some))
		.sort((one, other) => (one.earned36 === other.earned36 ? 0 : one.earned36 > other.earned36 ? -1 : 1));
}

/** Adds up swaps. */
export function sumOf(name: string, profits: readonly SwapProfit[]): SwapSums {
	const sums = { fee36: 0n, skew36: 0n, gas36: 0n, price36: 0n, underWay36: 0n };
	for (const profit of profits) {
		sums.fee36 += profit.fee36;
		sums.skew36 += profit.skew36;
		sums.gas36 += profit.gas36;
		sums.price36 += profit.price36;
		sums.underWay36 += profit.underWay36;
	}
	const { fee36, skew36, gas36, price36 } = sums;
	return { name, swaps: profits.length, ...sums, earned36: fee36 + skew36 + gas36 + price36 };
}

/** The balance of a token on a chain at both ends of a report. */
export type Balance = {
	chainId: number;
	token: Period["tokens"][number]["token"];
	opening: bigint;
	closing: bigint;
	usdOpening: bigint | undefined;
	usdClosing: bigint | undefined;
};

/** Returns the first opening and the last closing of each token that has either. */
export function balancesOf(periods: readonly Period[]): Balance[] {
	const balances = new Map<string, Balance>();
	for (const { chainId, tokens } of periods) {
		for (const { token, opening, closing, usdOpening, usdClosing } of tokens) {
			const known = balances.get(`${chainId} ${token}`);
			balances.set(`${chainId} ${token}`, {
				chainId,
				token,
				opening: known?.opening ?? opening,
				usdOpening: known ? known.usdOpening : usdOpening,
				closing,
				usdClosing,
			});
		}
	}
	return [...balances.values()].filter(({ opening, closing }) => opening !== 0n || closing !== 0n);
}

/** Counts on how many chains a second provider reported the same closing balances, another one, or there was none. */
export function countAgreement(periods: readonly Period[]): {
	agreed: number;
	differ: number;
	alone: number;
} {
	const chains = [...Map.groupBy(periods, ({ chainId }) => chainId).values()].map((some) =>
		some.flatMap(({ tokens }) => tokens.map(({ agreed }) => agreed)),
	);
	const differ = chains.filter((all) => all.includes(false)).length;
	const agreed = chains.filter((all) => all.length > 0 && all.every((one) => one === true)).length;
	return { agreed, differ, alone: chains.length - differ - agreed };
}
