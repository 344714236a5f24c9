import { count, decimal, plural, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import { countAgreement, type SwapSums } from "../../operate/report/read-report.ts";
import type { DaySums, ProfitView, ReportView } from "../read/read-profit-view.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, table, tile } from "./parts.ts";

/** Returns the page of what the desk earned on the last closed day, and since then. */
export function profitPage(
	{ last, today, days }: ProfitView,
	{ chainNames }: { chainNames: ChainNames },
): Page {
	const shown = last ?? today;
	const body = html`
		<h1>Profit</h1>
		<p class="subtitle">What the desk's own money gained and lost, at the reference prices of each block. <code>geoswapd report</code> has the same with every digit, and each entry as CSV.</p>
		${last ? figures(last, { id: "last", title: dayOf(last) }) : null}
		${figures(today, { id: "today", title: last ? "Since then" : "So far" })}
		<div class="two">
			${swaps("Swaps by pair", shown.byPair, { id: "pairs", day: dayOf(shown) })}
			${swaps("Swaps by chain", shown.byRoute, { id: "routes", day: dayOf(shown) })}
		</div>
		${positions(shown, chainNames)}
		${past(days)}`;
	return { title: "Profit · Geoswap console", menu: "/profit", body };
}

function dayOf({ range }: ReportView): string {
	return range.kind === "closed" ? `${range.days[0]}` : range.day;
}

/** Formats a value in USD with its sign. */
function signed(value36: bigint): string {
	// Rounded to cents, so that nothing small shows as minus zero.
	const cents = (value36 + (value36 < 0n ? -1n : 1n) * 5n * 10n ** 33n) / 10n ** 34n;
	if (cents === 0n) return usd(0);
	return cents < 0n ? `−${usd(-cents)}` : `+${usd(cents)}`;
}

function figures(report: ReportView, { id, title }: { id: string; title: string }): Content {
	const { sums, byReason, positions36, opening36, closing36, difference36 } = report;
	const { fee36, skew36, gas36, price36, earned36, underWay36 } = sums;
	const others = byReason.opening + byReason.reversal + byReason.unattributed;
	return section(
		{ id, title, note: booksOf(report), isLive: true },
		html`<dl class="tiles">
			${tile({ title: "Earned by swaps", value: signed(earned36), note: plural(sums.swaps, "swap") })}
			${tile({ title: "Fees", value: signed(fee36 + skew36), note: "with inventory's share of prices" })}
			${tile({ title: "Gas of swaps", value: signed(gas36) })}
			${tile({ title: "Price", value: signed(price36), note: "network costs that were charged, and the rest" })}
			${tile({ title: "Under way", value: signed(underWay36), note: "one side is in another day" })}
			${tile({ title: "Moves, overhead", value: signed(byReason.move + byReason.overhead) })}
			${tile({ title: "Declared", value: signed(byReason.declared), note: `others ${signed(others)}` })}
			${tile({ title: "Positions", value: signed(positions36), note: "what prices did to what was held" })}
			${tile({ title: "Change", value: signed(closing36 - opening36), note: `to ${usd(closing36 / 10n ** 34n)}` })}
		</dl>`,
		difference36 === 0n
			? null
			: html`<p>${pill("does not add up", "bad")} ${signed(difference36)} of the change is not explained: see docs/runbooks/GeoswapDayDoesNotClose.md.</p>`,
	);
}

function booksOf({ range, periods, missing }: ReportView): string {
	if (range.kind === "today")
		return "from the last closed day of each chain on; not compared with the chains yet";
	const chains = new Set(periods.map(({ chainId }) => chainId)).size;
	const { agreed, differ } = countAgreement(periods);
	return [
		`closed on ${chains} of ${plural(chains + missing.length, "chain")}`,
		`two providers agreed on ${agreed}`,
		...(differ > 0 ? [`differed on ${differ}`] : []),
	].join(", ");
}

function swaps(
	title: string,
	groups: readonly SwapSums[],
	{ id, day }: { id: string; day: string },
): Content {
	return section(
		{ id, title, note: day, isLive: true },
		table({
			label: title,
			columns: [
				{ title: "Swaps of" },
				{ title: "Count", isNumber: true },
				{ title: "Fees", isNumber: true },
				{ title: "Gas", isNumber: true },
				{ title: "Price", isNumber: true },
				{ title: "Earned", isNumber: true },
			],
			rows: groups.map(({ name, swaps, fee36, skew36, gas36, price36, earned36 }) => [
				name,
				count(swaps),
				signed(fee36 + skew36),
				signed(gas36),
				signed(price36),
				html`<b>${signed(earned36)}</b>`,
			]),
			none: "No swap was booked.",
		}),
	);
}

function positions(report: ReportView, chainNames: ChainNames): Content {
	const price = (usdE18: bigint | undefined) =>
		usdE18 === undefined ? "none" : usd(Number(usdE18 / 10n ** 12n) / 10_000);
	const rows = report.periods.flatMap(({ chainId, tokens }) =>
		tokens
			.filter(({ opening, closing }) => opening !== 0n || closing !== 0n)
			.map(({ token, opening, closing, usdOpening, usdClosing, positions36 }) => {
				const shown = (amount: bigint) => decimal(chainNames.tokens(chainId, token, amount).amount, 4);
				return [
					chainNames.name(chainId),
					chainNames.tokens(chainId, token, 0n).symbol,
					shown(opening),
					shown(closing),
					price(usdOpening),
					price(usdClosing),
					positions36 === undefined ? "no price" : signed(positions36),
				];
			}),
	);
	return section(
		{
			id: "positions",
			title: "Positions",
			note: `${dayOf(report)}; with relayers' gas and what is on its way`,
			isLive: true,
		},
		table({
			label: "Positions by chain and token",
			columns: [
				{ title: "Chain" },
				{ title: "Token" },
				{ title: "Opening", isNumber: true },
				{ title: "Closing", isNumber: true },
				{ title: "Price then", isNumber: true },
				{ title: "Price after", isNumber: true },
				{ title: "Position", isNumber: true },
			],
			rows,
			none: "The books hold nothing.",
		}),
	);
}

function past(days: readonly DaySums[]): Content {
	return section(
		{ id: "days", title: "Closed days", note: "UTC; geoswapd report --day has each", isLive: true },
		table({
			label: "Closed days, newest first",
			columns: [
				{ title: "Day" },
				{ title: "Chains", isNumber: true },
				{ title: "In and out", isNumber: true },
				{ title: "Positions", isNumber: true },
				{ title: "Change", isNumber: true },
			],
			rows: days.map(({ day, chains, flows36, positions36 }) => [
				day,
				count(chains),
				signed(flows36),
				signed(positions36),
				html`<b>${signed(flows36 + positions36)}</b>`,
			]),
			none: "No day is closed yet.",
		}),
	);
}
