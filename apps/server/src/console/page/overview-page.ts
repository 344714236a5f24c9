import type { Milliseconds } from "@geoswap/protocol";
import { count, decimal, duration, plural, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import { attestersOf } from "../read/attesters-of.ts";
import type { Problem } from "../read/find-problems.ts";
import type { Overview, Traffic } from "../read/read-overview.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, table, tile } from "./parts.ts";
import { plot } from "./plot.ts";

const halfHourMs = 1_800_000;
const stepsADay = 48;

/** Returns the page that shows in ten seconds whether the service is healthy, and why not. */
export function overviewPage(
	overview: Overview,
	{ config, chainNames, nowMs }: { config: ConsoleConfig; chainNames: ChainNames; nowMs: Milliseconds },
): Page {
	const body = html`
		<h1 class="visually-hidden">Overview</h1>
		${verdict(overview.problems)}
		${figures(overview, chainNames)}
		${plots(overview.traffic, nowMs)}
		<div class="two">${underWay(overview, chainNames)}${chains(overview, { config, chainNames })}</div>`;
	return { title: titleOf(overview.problems), menu: "/", body };
}

/** Returns the tab's title, which shows whether all is well. */
function titleOf(problems: readonly Problem[]): string {
	if (problems.length === 0) return "Healthy · Geoswap console";
	return `${plural(problems.length, "problem")} · Geoswap console`;
}

function verdict(problems: readonly Problem[]): Content {
	const isBad = problems.some(({ tone }) => tone === "bad");
	const tone = problems.length === 0 ? "good" : isBad ? "bad" : "warn";
	const words = {
		good: "Healthy",
		warn: plural(problems.length, "thing to look at", "things to look at"),
		bad: plural(problems.length, "problem"),
	};
	return html`<section id="verdict" data-live class=${`verdict ${tone}`} aria-labelledby="verdict-title">
		<h2 id="verdict-title">${words[tone]}</h2>
		${
			problems.length === 0
				? html`<p>No chain is paused, no swap is stuck, followers and attesters are up to date, and the books hold.</p>`
				: html`<ul>${problems.map(
						({ tone, what, next, runbook, href }) => html`<li class=${tone}>
							<a href=${href}>${what}</a><span class="next">${code(next)} <small>docs/runbooks/${runbook}.md</small></span></li>`,
					)}</ul>`
		}
	</section>`;
}

/** Shows the parts between backquotes as code. */
function code(text: string): Content {
	return text.split("`").map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part));
}

function figures({ traffic, today, recent }: Overview, chainNames: ChainNames): Content {
	const day = traffic.find(({ at }) => at === null);
	const seconds = (value: number | null | undefined) =>
		value === null || value === undefined ? "–" : duration(value);
	const gas = today.gas.map(({ chainId, wei }) => {
		const { amount, symbol } = chainNames.nativeAmount(chainId, wei);
		return html`<span class="line">${decimal(amount)} ${symbol} <small>${chainNames.name(chainId)}</small></span>`;
	});
	return html`<section id="figures" data-live aria-label="Figures"><dl class="tiles">
		${tile({ title: "Swaps a minute", value: (recent / 5).toFixed(1), note: `${count(day?.submitted ?? 0)} in 24 h` })}
		${tile({ title: "Time to settle, p50", value: seconds(day?.p50Seconds), note: "24 h" })}
		${tile({ title: "Time to settle, p95", value: seconds(day?.p95Seconds), note: "24 h" })}
		${tile({ title: "Settled", value: usd(day?.settledUsdCents ?? 0), note: `${count(day?.settled ?? 0)} swaps in 24 h` })}
		${tile({ title: "Refunds today", value: count(today.refunded), note: `${count(day?.refunded ?? 0)} in 24 h` })}
		${tile({ title: "Fees today", value: usd(today.feeUsdCents), note: "as quoted, since 00:00 UTC" })}
		${tile({ title: "Gas today", value: gas.length > 0 ? gas : "–", note: "booked since 00:00 UTC" })}
	</dl></section>`;
}

function plots(traffic: readonly Traffic[], nowMs: Milliseconds): Content {
	const firstMs = nowMs - (nowMs % halfHourMs) - (stepsADay - 1) * halfHourMs;
	const times = Array.from({ length: stepsADay }, (_, i) => new Date(firstMs + i * halfHourMs));
	const at = new Map(traffic.flatMap((one) => (one.at ? [[one.at.getTime(), one]] : [])));
	const valuesOf = (read: (one: Traffic) => number | null, none: number | null) =>
		times.map((time) => {
			const one = at.get(time.getTime());
			return one ? read(one) : none;
		});
	const day = traffic.find((one) => one.at === null);
	return html`<div class="two">
		${section(
			{ id: "plot-swaps", title: "Swaps", note: "by half hour, 24 h, UTC", isLive: true },
			plot({
				kind: "bars",
				times,
				format: count,
				summary: `Swaps of the last 24 hours by half hour: ${count(day?.settled ?? 0)} settled, ${count(day?.refunded ?? 0)} refunded, ${count(day?.failed ?? 0)} failed, of ${count(day?.submitted ?? 0)}.`,
				series: [
					{ name: "settled", tone: "good", values: valuesOf((one) => one.settled, 0) },
					{
						name: "under way",
						tone: "busy",
						values: valuesOf((one) => one.submitted - one.settled - one.refunded - one.failed, 0),
					},
					{ name: "refunded", tone: "warn", values: valuesOf((one) => one.refunded, 0) },
					{ name: "failed", tone: "quiet", values: valuesOf((one) => one.failed, 0) },
				],
			}),
		)}
		${section(
			{ id: "plot-settle", title: "Time to settle", note: "p50 and p95, 24 h, UTC", isLive: true },
			plot({
				kind: "lines",
				times,
				format: (value) => (value < 10 ? `${Number(value.toFixed(1))} s` : duration(value)),
				summary: `Time to settle over the last 24 hours: half of the swaps within ${duration(day?.p50Seconds ?? 0)}, 95 % within ${duration(day?.p95Seconds ?? 0)}.`,
				series: [
					{ name: "p50", tone: "good", values: valuesOf((one) => one.p50Seconds, null) },
					{ name: "p95", tone: "warn", values: valuesOf((one) => one.p95Seconds, null) },
				],
			}),
		)}
	</div>`;
}

const stageWords: Record<string, string> = {
	opening: "Opening (the input is not taken yet)",
	deposited: "Deposited (confirmations are awaited)",
	delivering: "Delivering (the output is on its way)",
	delivered: "Delivered (not final yet)",
	refunding: "Refunding (the input goes back)",
	unreleased: "Decided (the input is not released yet)",
};

function underWay({ unended }: Overview, chainNames: ChainNames): Content {
	const rows = unended
		.toSorted((a, b) => b.stuck - a.stuck || b.count - a.count)
		.map(({ stage, origin, destination, count: number, stuck }) => [
			stageWords[stage] ?? stage,
			html`<a href=${`/swaps?show=under-way&from=${origin}&to=${destination}`}>${chainNames.name(Number(origin))} → ${chainNames.name(Number(destination))}</a>`,
			count(number),
			stuck > 0 ? pill(plural(stuck, "stuck", "stuck"), "bad") : html`<span class="quiet">–</span>`,
		]);
	return section(
		{ id: "under-way", title: "Under way", isLive: true },
		table({
			label: "Swaps under way",
			columns: [
				{ title: "Stage" },
				{ title: "Route" },
				{ title: "Swaps", isNumber: true },
				{ title: "Stuck" },
			],
			rows,
			none: "No swap is under way.",
		}),
	);
}

function chains(
	{ vitals, pauses }: Overview,
	{ config, chainNames }: { config: ConsoleConfig; chainNames: ChainNames },
): Content {
	const rows = config.chains.map((chain) => {
		const { chainId } = chain;
		const head = vitals.heads.find((one) => one.chainId === chainId);
		const isPaused = pauses.some((pause) => pause.chainId === chainId);
		const attesters = attestersOf(chain, { vitals, config });
		return [
			html`<a href=${`/chains#chain-${chainId}`}>${chainNames.name(chainId)}</a>`,
			isPaused ? pill("paused", "bad") : pill("open", "good"),
			head ? `${duration(Math.max(0, head.blockSecondsAgo))} old` : "not followed",
			head ? count(head.unfinalBlocks) : "–",
			attesters
				? `${attesters.alive} of ${attesters.all.length}`
				: html`<span class="quiet">none needed</span>`,
		];
	});
	return section(
		{ id: "chains", title: "Chains", isLive: true },
		table({
			label: "Chains",
			columns: [
				{ title: "Chain" },
				{ title: "Sales" },
				{ title: "Newest block" },
				{ title: "Not final", isNumber: true },
				{ title: "Attesters", isNumber: true },
			],
			rows,
			none: "No chain is configured.",
		}),
	);
}
