import { toSwapId } from "@geoswap/protocol";
import { formatUnits } from "viem";
import { decimal } from "../../api/page/format.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import { reasons } from "../../money/profit/attribute-posting.ts";
import {
	balancesOf,
	countAgreement,
	groupSwaps,
	type Range,
	type Report,
	type SwapKey,
	sumOf,
} from "./read-report.ts";

export type GroupKey = SwapKey | "reason";

/** Rounds a value to whole units of 10^-places USD, halves away from zero, and formats it without groups of digits. */
export function formatUsd36(value36: bigint, places: number): string {
	const unit = 10n ** BigInt(36 - places);
	const size = value36 < 0n ? -value36 : value36;
	const rounded = (2n * size + unit) / (2n * unit);
	const text = rounded.toString().padStart(places + 1, "0");
	return `${value36 < 0n && rounded > 0n ? "-" : ""}${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** Formats cents with groups of digits. */
function dollars(value36: bigint): string {
	const [whole = "0", cents = ""] = formatUsd36(value36, 2).split(".");
	const sign = whole.startsWith("-") ? "-" : "";
	return `${sign}${BigInt(whole.replace("-", "")).toLocaleString("en-US")}.${cents}`;
}

function signed(value36: bigint): string {
	const text = dollars(value36);
	return text.startsWith("-") || text === "0.00" ? text : `+${text}`;
}

/** Returns the name of a range, as in "2026-11-30". */
function rangeName(range: Range): string {
	if (range.kind === "today") return `${range.day}, so far`;
	const [first, last] = [range.days[0], range.days.at(-1)];
	return first === last ? `${first}` : `${first} to ${last}`;
}

/** Returns the morning report: what the desk earned, and why its value changed. */
export function formatReport(
	report: Report,
	{ by, chainNames }: { by: GroupKey; chainNames: ChainNames },
): string {
	const { byReason, positions36, opening36, closing36, difference36, profits, missing, unpriced } = report;
	const swaps = sumOf("swaps", profits);
	const underWay = profits.filter(({ isComplete, underWay36 }) => !isComplete && underWay36 !== 0n).length;
	const reason = (name: string, value: bigint, note = ""): string[] => [name, signed(value), note];
	const lines = [
		`Report of ${rangeName(report.range)}, UTC`,
		...describeBooks(report),
		...missing.map(({ day, chainId, inDay }) =>
			inDay
				? `NOT CLOSED  ${chainNames.name(chainId)} on ${day}: its postings are in the books of ${inDay}`
				: `NOT CLOSED  ${chainNames.name(chainId)} on ${day}`,
		),
		`value: ${dollars(opening36)} → ${dollars(closing36)} USD`,
		"",
		...align(
			[
				["USD", "", ""],
				reason("swaps", byReason.swap, `${profits.length} swaps, ${underWay} of them under way`),
				reason("  fees", swaps.fee36),
				reason("  inventory's share of prices", swaps.skew36),
				reason("  gas", swaps.gas36),
				reason("  price", swaps.price36),
				reason("  under way", swaps.underWay36),
				reason("moves", byReason.move),
				reason("overhead", byReason.overhead),
				reason("declared", byReason.declared),
				reason("unattributed", byReason.unattributed),
				...(byReason.opening === 0n ? [] : [reason("opening", byReason.opening)]),
				...(byReason.reversal === 0n ? [] : [reason("reversed", byReason.reversal)]),
				reason("positions", positions36),
				reason("change", closing36 - opening36, difference36 === 0n ? "the sum of the above, exactly" : ""),
			],
			[1],
		),
		...(difference36 === 0n
			? []
			: [`DIFFERENCE  ${formatUnits(difference36, 36)} USD of the change are not explained`]),
		...unpriced.map(
			({ chainId, token }) =>
				`NO PRICE  ${chainNames.tokens(chainId, token, 0n).symbol} on ${chainNames.name(chainId)} is in no sum`,
		),
		"",
		...(by === "reason" ? reasonsByChain(report, chainNames) : swapsBy(report, { by, chainNames })),
		"",
		...align(
			[
				["balance", "opening", "closing", "change", "USD opening", "USD closing"],
				...balancesOf(report.periods).map(({ chainId, token, opening, closing, usdOpening, usdClosing }) => {
					const shown = (units: bigint) => chainNames.tokens(chainId, token, units).amount;
					const price = (usd: bigint | undefined) => (usd === undefined ? "none" : dollars(usd * 10n ** 18n));
					return [
						`${chainNames.name(chainId)} ${chainNames.tokens(chainId, token, 0n).symbol}`,
						decimal(shown(opening)),
						decimal(shown(closing)),
						signedUnits(shown(closing - opening)),
						price(usdOpening),
						price(usdClosing),
					];
				}),
			],
			[1, 2, 3, 4, 5],
		),
	];
	return lines.join("\n");
}

function signedUnits(amount: string): string {
	if (amount.startsWith("-")) return `-${decimal(amount.slice(1))}`;
	return amount === "0" ? amount : `+${decimal(amount)}`;
}

function describeBooks({ periods, missing, range }: Report): string[] {
	const closed = new Set(periods.map(({ chainId }) => chainId));
	const isOpen = ({ chainId }: { chainId: number }) => missing.some((one) => one.chainId === chainId);
	const all = new Set([...closed, ...missing.map(({ chainId }) => chainId)]);
	if (range.kind === "today") {
		const days = [...closed].length;
		return [
			`books: not closed yet; of ${days} ${days === 1 ? "chain" : "chains"}, each from its last closed day on`,
		];
	}
	const complete = [...closed].filter((chainId) => !isOpen({ chainId })).length;
	const { agreed, differ, alone } = countAgreement(periods);
	return [
		[
			`books: closed on ${complete} of ${all.size} ${all.size === 1 ? "chain" : "chains"}`,
			`two providers agreed on ${agreed}`,
			...(differ > 0 ? [`DIFFERED on ${differ}`] : []),
			...(alone > 0 ? [`${alone} without a second provider`] : []),
		].join("; "),
	];
}

function swapsBy({ profits }: Report, { by, chainNames }: { by: SwapKey; chainNames: ChainNames }): string[] {
	return align(
		[
			[`swaps by ${by}`, "swaps", "fees", "gas", "price", "earned", "under way"],
			...groupSwaps(profits, { by, chainNames }).map(
				({ name, swaps, fee36, skew36, gas36, price36, earned36, underWay36 }) => [
					name,
					String(swaps),
					signed(fee36 + skew36),
					signed(gas36),
					signed(price36),
					signed(earned36),
					signed(underWay36),
				],
			),
		],
		[1, 2, 3, 4, 5, 6],
	);
}

function reasonsByChain({ byChain }: Report, chainNames: ChainNames): string[] {
	const chains = [...byChain];
	return align(
		[
			["reason", ...chains.map(([chainId]) => chainNames.name(chainId))],
			...reasons.map((reason) => [reason, ...chains.map(([, sums]) => signed(sums.byReason[reason]))]),
			["positions", ...chains.map(([, { positions36 }]) => signed(positions36))],
			["change", ...chains.map(([, { change36 }]) => signed(change36))],
		],
		chains.map((_, i) => i + 1),
	);
}

/** Aligns columns, those with numbers to the right. */
function align(rows: readonly (readonly string[])[], numbers: readonly number[]): string[] {
	const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
	return rows.map((row) =>
		row
			.map((cell, i) => (numbers.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
			.join("  ")
			.trimEnd(),
	);
}

/** Returns a report with every value as exact decimal text, in USD or in whole tokens. */
export function reportToJson(report: Report, { by, chainNames }: { by: GroupKey; chainNames: ChainNames }) {
	const { range, missing, unpriced, byReason, byChain, periods, profits } = report;
	const usd = (value36: bigint) => formatUnits(value36, 36);
	const usdOf = <Key extends string>(values: Record<Key, bigint>) =>
		Object.fromEntries(Object.entries<bigint>(values).map(([key, value]) => [key, usd(value)]));
	const sums = ({ fee36, skew36, gas36, price36, underWay36 }: ReturnType<typeof sumOf>) => {
		return {
			fees: usd(fee36),
			skew: usd(skew36),
			gas: usd(gas36),
			price: usd(price36),
			underWay: usd(underWay36),
		};
	};
	return {
		days: range.kind === "today" ? [range.day] : range.days,
		isClosed: range.kind === "closed" && missing.length === 0,
		notClosed: missing.map(({ day, chainId, inDay }) => ({ day, chainId, inDay: inDay ?? null })),
		providers: countAgreement(periods),
		opening: usd(report.opening36),
		closing: usd(report.closing36),
		change: usd(report.closing36 - report.opening36),
		reasons: usdOf(byReason),
		positions: usd(report.positions36),
		difference: usd(report.difference36),
		swapSums: sums(sumOf("swaps", profits)),
		unpriced: unpriced.map(({ chainId, token }) => ({ chainId, token })),
		groups:
			by === "reason"
				? [...byChain].map(([chainId, { byReason, positions36, change36 }]) => {
						return { chainId, reasons: usdOf(byReason), positions: usd(positions36), change: usd(change36) };
					})
				: groupSwaps(profits, { by, chainNames }).map((group) => {
						return { name: group.name, swaps: group.swaps, ...sums(group), earned: usd(group.earned36) };
					}),
		swaps: profits.map(
			({ orderId, swap, isComplete, fee36, skew36, gas36, price36, underWay36, profit36 }) => {
				return {
					swapId: swap ? toSwapId(swap.id) : null,
					orderId,
					accountId: swap?.accountId ?? null,
					originChainId: swap ? Number(swap.order.originChainId) : null,
					destinationChainId: swap ? Number(swap.order.destinationChainId) : null,
					valueUsd: swap ? formatUnits(swap.valueUsdCents, 2) : null,
					isComplete,
					fee: usd(fee36),
					skew: usd(skew36),
					gas: usd(gas36),
					price: usd(price36),
					underWay: usd(underWay36),
					profit: usd(profit36),
				};
			},
		),
		balances: balancesOf(periods).map(({ chainId, token, opening, closing, usdOpening, usdClosing }) => {
			const { symbol, amount } = chainNames.tokens(chainId, token, opening);
			return {
				chainId,
				token,
				symbol,
				opening: amount,
				closing: chainNames.tokens(chainId, token, closing).amount,
				usdOpening: usdOpening === undefined ? null : formatUnits(usdOpening, 18),
				usdClosing: usdClosing === undefined ? null : formatUnits(usdClosing, 18),
			};
		}),
	};
}
