import { ago, decimal, moment } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import { nextStep } from "../../operate/treasury/describe-flow.ts";
import { type NewestPlan, planProblem, type TreasuryView } from "../../operate/treasury/plan-command.ts";
import type { Page } from "../route/console-route.ts";
import { transactionLink } from "./chain-links.ts";
import { pill, section, table } from "./parts.ts";

/** Returns the page of what each vault holds and needs, what would be moved next, and what is on its way. */
export function treasuryPage(
	{ newest, pause, openFlows }: TreasuryView,
	{ config, chainNames, nowMs }: { config: ConsoleConfig; chainNames: ChainNames; nowMs: number },
): Page {
	const { mode } = config.treasury;
	const problem = planProblem(newest, { mode, nowMs });
	const verb = mode === "act" && !pause ? "moves" : "would move";
	const body = html`
		<h1>Treasury</h1>
		<p class="subtitle">What the service ${verb} between the vaults, and what is on its way. No button here moves money.</p>
		${pause ? html`<p role="alert">The treasury is paused since ${moment(pause.at)} by ${pause.by}: ${pause.reason}. Its keys start no move.</p>` : ""}
		${problem ? html`<p role="alert">${sentence(problem)}</p>` : ""}
		${section(
			{ id: "plan", title: "Next plan", note: newest && html`made ${ago(newest.at, nowMs)}`, isLive: true },
			newest ? planOf(newest, verb) : html`<p class="none">There is no plan.</p>`,
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
					{ title: "Since" },
					{ title: "Kind" },
					{ title: "State" },
					{ title: "What happens next" },
					{ title: "Chains" },
					{ title: "Amount", isNumber: true },
					{ title: "Transactions" },
					{ title: "By" },
					{ title: "Reason" },
				],
				rows: openFlows.map((flow) => {
					const { createdAt, kind, state, chainId, toChainId, token, amount, by, reason } = flow;
					const shown = chainNames.tokens(chainId, token, amount);
					const chains = [chainId, ...(toChainId === undefined ? [] : [toChainId])];
					return [
						moment(createdAt),
						kind,
						pill(state, state === "stuck" ? "bad" : "busy"),
						sentence(nextStep(flow, (id) => chainNames.name(id))),
						chains.map((id) => chainNames.name(id)).join(" → "),
						`${decimal(shown.amount, 4)} ${shown.symbol}`,
						transactionsOf(flow),
						by,
						reason,
					];
				}),
				none: "Nothing is declared, and nothing is moved.",
			}),
		)}`;
	return { title: "Treasury · Geoswap console", menu: "/treasury", body };

	function transactionsOf({
		chainId,
		transaction,
		toChainId,
		arrivedTransaction,
	}: TreasuryView["openFlows"][number]): Content {
		return html`${transaction ? transactionLink(chainNames, chainId, transaction) : "–"} ${
			arrivedTransaction && toChainId !== undefined
				? html`→ ${transactionLink(chainNames, toChainId, arrivedTransaction)}`
				: ""
		}`;
	}

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

function planOf({ plan: { moves, reasons } }: NewestPlan, verb: string): Content {
	return html`
		${
			moves.length === 0
				? html`<p>It ${verb} nothing.</p>`
				: html`<ol>${moves.map(({ kind, reason }) => html`<li><b>${kind}</b>: ${reason}</li>`)}</ol>`
		}
		${reasons.length > 0 ? html`<p>What it leaves, and why:</p><ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>` : ""}`;
}

function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
