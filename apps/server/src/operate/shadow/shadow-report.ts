import type { Amount, Milliseconds, UsdE18, Wei } from "@geoswap/protocol";
import { formatUnits, type Hex } from "viem";

export type PairReport = {
	pair: string;
	quoted: number;
	filled: number;
	refunded: number;
	/** Value of the inputs at the fill. */
	volumeE18: UsdE18;
	/** Earned at the prices of each fill, after the chains' fees. */
	earnedE18: UsdE18;
};

/** A swap that lost money, or a quote that would have. */
export type Loss = { swap: number; pair: string; gainE18: UsdE18 };

export type Losses = { count: number; sumE18: UsdE18; worst: Loss[] };

export type InventoryReport = {
	chainId: number;
	chain: string;
	token: Hex;
	symbol: string;
	decimals: number;
	start: Amount;
	/** The lowest amount that was free for another swap, and the highest amount held. */
	minFree: Amount;
	most: Amount;
	/** The service's inputs that are not released yet. */
	inEscrow: Amount;
	end: Amount;
	/** Inventory that would have sufficed, and its value at the end. */
	needed: Amount;
	neededE18: UsdE18;
};

export type FeeReport = {
	chainId: number;
	chain: string;
	transactions: number;
	fees: Wei;
	/** Each fee at the price when it was paid. */
	valueE18: UsdE18;
};

/** The result of a day. Amounts of USD have 18 decimals. */
export type ShadowReport = {
	fromMs: Milliseconds;
	toMs: Milliseconds;
	source: string;
	requests: number;
	quoted: number;
	filled: number;
	refunded: number;
	/** Swaps in progress at the end. They count with the fees that they have cost. */
	unfinished: number;
	/** Requests that became no swap, by reason. */
	refusals: Record<string, number>;
	/** Fills that would have succeeded on their chain, that would have failed, and that were not simulated. */
	simulations: { succeeded: number; failed: number; notSimulated: number };
	volumeE18: UsdE18;
	/** The sum of all pairs, with each swap at the prices of its fill. */
	earnedE18: UsdE18;
	/** The remainder: changes of the inputs' prices until they were sold, and the cost of replenishing. */
	heldAndReplenishedE18: UsdE18;
	/** All holdings at the end less those at the start, at the end's prices, less all fees. */
	netE18: UsdE18;
	feesE18: UsdE18;
	/** Value of the inventory that would have sufficed. */
	neededE18: UsdE18;
	pairs: PairReport[];
	inventory: InventoryReport[];
	fees: FeeReport[];
	losses: {
		/** Swaps that lost at the prices of their own fill, including refunds. */
		atFill: Losses;
		/** Swaps that would have lost if the quoted output had been paid, regardless of price changes in between. */
		ifHonoured: Losses;
		/** Swaps that would have lost if their input had been kept and sold at the end. */
		ifHeld: Losses;
	};
};

const worstListed = 10;

/** Sums up the losses among these gains, and lists the worst. */
export function lossesOf(gains: readonly Loss[]): Losses {
	const lost = gains.filter(({ gainE18 }) => gainE18 < 0n);
	const byGain = lost.toSorted((a, b) =>
		a.gainE18 < b.gainE18 ? -1 : a.gainE18 > b.gainE18 ? 1 : a.swap - b.swap,
	);
	return {
		count: lost.length,
		sumE18: lost.reduce((sum, { gainE18 }) => sum + gainE18, 0n),
		worst: byGain.slice(0, worstListed),
	};
}

const pairsListed = 20;

/** Returns the report as Markdown, which is also readable unrendered. */
export function formatReport(report: ShadowReport): string {
	const { losses, simulations } = report;
	const hours = (report.toMs - report.fromMs) / 3_600_000;
	return [
		`# Shadow report, ${time(report.fromMs)} to ${time(report.toMs)}`,
		"",
		`${hours.toFixed(1)} hours. ${report.source}`,
		"Nothing was signed or sent. All amounts are on paper.",
		"",
		...table(
			["", "USD"],
			[
				["Earned at the prices of each fill, after network fees", usd(report.earnedE18)],
				["Inputs held until they were sold, and replenishing", usd(report.heldAndReplenishedE18)],
				["**Net**", `**${usd(report.netE18)}**`],
				["Volume", usd(report.volumeE18)],
				["Network fees", usd(report.feesE18)],
				["Inventory that would have sufficed", usd(report.neededE18)],
			],
		),
		"",
		`${report.requests} requests: ${report.quoted} quoted, ${report.filled} filled, ${report.refunded} refunded, ${report.unfinished} unfinished.`,
		`Fills simulated on their chain: ${simulations.succeeded} would have succeeded, ${simulations.failed} would have failed and count as refunded. ${simulations.notSimulated} were not simulated.`,
		"",
		"## Refused",
		"",
		...table(
			["Reason", "Requests"],
			Object.entries(report.refusals).map(([reason, count]) => [reason, String(count)]),
		),
		"",
		"## Pairs",
		"",
		...table(
			["Pair", "Quoted", "Filled", "Refunded", "Volume USD", "Earned USD"],
			report.pairs
				.slice(0, pairsListed)
				.map((pair) => [
					pair.pair,
					String(pair.quoted),
					String(pair.filled),
					String(pair.refunded),
					usd(pair.volumeE18),
					usd(pair.earnedE18),
				]),
		),
		...(report.pairs.length > pairsListed
			? [`\n${report.pairs.length - pairsListed} more pairs are in the JSON report.`]
			: []),
		"",
		"## Inventory",
		"",
		...table(
			["Chain", "Token", "Start", "Least free", "Most held", "In escrow", "End", "Would have sufficed"],
			report.inventory.map((of) => {
				const amount = (units: bigint) => round(formatUnits(units, of.decimals), 4);
				return [
					of.chain,
					of.symbol,
					...[of.start, of.minFree, of.most, of.inEscrow, of.end, of.needed].map(amount),
				];
			}),
		),
		"",
		"## Network fees",
		"",
		...table(
			["Chain", "Transactions", "USD"],
			report.fees.map(({ chain, transactions, valueE18 }) => [chain, String(transactions), usd(valueE18)]),
		),
		"",
		"## Quotes that lost",
		"",
		...lossLines("At the prices of their fill, refunds included", losses.atFill),
		...lossLines("If the quoted output had been paid, regardless of how prices moved", losses.ifHonoured),
		...lossLines("If the input had been kept until the end", losses.ifHeld),
	].join("\n");
}

/** Returns the report as JSON. Amounts are texts of digits. */
export function reportToJson(report: ShadowReport): string {
	return JSON.stringify(
		report,
		(_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
		"\t",
	);
}

function lossLines(title: string, { count, sumE18, worst }: Losses): string[] {
	const heading = `${title}: ${count}, together ${usd(sumE18)} USD.`;
	if (count === 0) return [heading, ""];
	const rows = worst.map(({ swap, pair, gainE18 }) => [String(swap), pair, usd(gainE18)]);
	return [heading, "", ...table(["Request", "Pair", "USD"], rows), ""];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
	if (rows.length === 0) return ["None."];
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)];
}

/** Formats dollars and cents, rounded down. */
function usd(valueE18: bigint): string {
	const cent = 10n ** 16n;
	const cents = valueE18 >= 0n ? valueE18 / cent : (valueE18 - cent + 1n) / cent;
	const digits = String(cents < 0n ? -cents : cents).padStart(3, "0");
	return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Cuts a decimal text after so many places. */
function round(text: string, places: number): string {
	const [whole = "0", fraction = ""] = text.split(".");
	const kept = fraction.slice(0, places).replace(/0+$/, "");
	return kept === "" ? whole : `${whole}.${kept}`;
}

function time(ms: number): string {
	return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
