import { ago, decimal, moment } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import { type NewestPlan, planProblem, type readTreasuryView } from "../../operate/treasury/plan-command.ts";
import type { Page } from "../route/console-route.ts";
import { pill, section, table } from "./parts.ts";

/** Returns the page of what each vault holds and needs, what would be moved next, and what is on its way. */
export function treasuryPage(
	{ newest, openFlows }: Awaited<ReturnType<typeof readTreasuryView>>,
	{ config, chainNames, nowMs }: { config: ConsoleConfig; chainNames: ChainNames; nowMs: number },
): Page {
	const { mode } = config.treasury;
	const problem = planProblem(newest, { mode, nowMs });
	const body = html`
		<h1>Treasury</h1>
		<p class="subtitle">What the service would move between the vaults. Nothing is moved by it, and no button here moves money.</p>
		${problem ? html`<p role="alert">${sentence(problem)}</p>` : ""}
		${section(
			{ id: "plan", title: "Next plan", note: newest && html`made ${ago(newest.at, nowMs)}`, isLive: true },
			newest ? planOf(newest) : html`<p class="none">There is no plan.</p>`,
		)}
		${section(
			{ id: "vaults", title: "Vaults", note: "when the plan was made", isLive: true },
			table({
				label: "What each vault holds and needs",
				columns: [
					{ title: "Chain" },
					{ title: "Token" },
					{ title: "Held", isNumber: true },
					{ title: "Free", isNumber: true },
					{ title: "Arriving", isNumber: true },
					{ title: "Needed", isNumber: true },
					{ title: "Kept up to", isNumber: true },
				],
				rows: newest ? rowsOf(newest) : [],
				none: "There is no plan.",
			}),
		)}
		${section(
			{ id: "flows", title: "Under way", note: "declared or moved, and not over", isLive: true },
			table({
				label: "Declarations and moves that are not over",
				columns: [
					{ title: "Declared" },
					{ title: "Kind" },
					{ title: "State" },
					{ title: "Chain" },
					{ title: "Amount", isNumber: true },
					{ title: "By" },
					{ title: "Reason" },
				],
				rows: openFlows.map(({ createdAt, kind, state, chainId, token, amount, by, reason }) => {
					const shown = chainNames.tokens(chainId, token, amount);
					return [
						moment(createdAt),
						kind,
						pill(state, state === "stuck" ? "bad" : "busy"),
						chainNames.name(chainId),
						`${decimal(shown.amount, 4)} ${shown.symbol}`,
						by,
						reason,
					];
				}),
				none: "Nothing is declared, and nothing is moved.",
			}),
		)}`;
	return { title: "Treasury · Geoswap console", menu: "/treasury", body };

	function rowsOf({ plan }: NewestPlan): Content[][] {
		return plan.chains.flatMap(({ chainId, status, tokens }) =>
			tokens.map(({ token, symbol, held, free, arriving, needed, maxHeld }) => {
				const shown = (amount: string) =>
					decimal(chainNames.tokens(chainId, token, BigInt(amount)).amount, 4);
				const isShort = needed !== null && BigInt(free) + BigInt(arriving) < BigInt(needed);
				return [
					html`${chainNames.name(chainId)} ${status === "open" ? "" : pill(status, "warn")}`,
					html`<b>${symbol}</b>`,
					shown(held),
					shown(free),
					needed === null ? "–" : shown(arriving),
					needed === null ? "–" : html`${shown(needed)} ${isShort ? pill("short", "warn") : ""}`,
					maxHeld === null ? "–" : shown(maxHeld),
				];
			}),
		);
	}
}

function planOf({ plan: { moves, reasons } }: NewestPlan): Content {
	return html`
		${
			moves.length === 0
				? html`<p>It would move nothing.</p>`
				: html`<ol>${moves.map(({ kind, reason }) => html`<li><b>${kind}</b>: ${reason}</li>`)}</ol>`
		}
		${reasons.length > 0 ? html`<p>What it leaves, and why:</p><ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>` : ""}`;
}

function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
