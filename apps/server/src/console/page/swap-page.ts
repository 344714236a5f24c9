import { type Milliseconds, toSwapId } from "@geoswap/protocol";
import { ago, duration, moment, usd } from "../../api/page/format.ts";
import { type Content, html } from "../../api/page/html.ts";
import { swapAmounts } from "../../api/page/swap-amounts.ts";
import type { ChainNames } from "../../config/chain-names.ts";
import type { ConsoleConfig } from "../../config/config-problems.ts";
import { describePause } from "../../operate/pause/pauses-commands.ts";
import type { Explanation } from "../../operate/swaps/explain-swap.ts";
import { type Moment, type SwapHistory, swapTimeline } from "../../operate/swaps/read-history.ts";
import { showTokens } from "../../operate/swaps/swap-view.ts";
import type { Fact } from "../../swap/decide/decision.ts";
import { factWords, type Todo } from "../../swap/decide/fact-words.ts";
import type { SwapRecord } from "../../swap/facts/swap-record.ts";
import type { Page } from "../route/console-route.ts";
import { addressLink, transactionLink } from "./chain-links.ts";
import { facts, pill, section, statusPill, table } from "./parts.ts";

type Context = { config: ConsoleConfig; chainNames: ChainNames; nowMs: Milliseconds };

/** Returns the page of one swap: where the money is, what it waits for, and everything that happened. */
export function swapPage(
	{
		swap,
		explanation,
		history,
		isStuck,
		accountName,
	}: {
		swap: SwapRecord;
		explanation: Explanation;
		history: SwapHistory;
		/** True if it made no progress for longer than its chains should take. */
		isStuck: boolean;
		accountName: string | undefined;
	},
	context: Context,
): Page {
	const id = toSwapId(swap.id);
	const { origin, destination, input, output } = swapAmounts(swap, context.chainNames);
	const body = html`
		<p class="crumb"><a href="/swaps">Swaps</a> / <span class="mono">${id}</span></p>
		<div id="swap" data-live>
			<h1>${input} <small>on ${origin}</small> → ${output} <small>on ${destination}</small></h1>
			<p class="subtitle">${statusPill(swap.status)}${isStuck ? html` ${pill("stuck", "bad")}` : null} ${usd(swap.valueUsdCents)}, submitted ${ago(swap.createdAt, context.nowMs)}${
				accountName ? html` by <a href=${`/swaps?account=${swap.accountId}`}>${accountName}</a>` : null
			}</p>
			<div class="two">
				${money(explanation, context)}
				${state(explanation, { ...context, isStuck })}
			</div>
			${timeline({ swap, explanation, history }, context)}
			${terms(swap, explanation, context)}
			${onChains(history, context)}
			${jobs(explanation, context)}
		</div>`;
	return { title: `${input} → ${output} · Geoswap console`, menu: "/swaps", body, search: id };
}

const holders: Record<string, string> = {
	wallet: "in the wallet",
	escrow: "in escrow",
	recipient: "with the recipient",
};

function money({ swap }: Explanation, { config, chainNames }: Context): Content {
	const { funds, failure } = swap;
	return section(
		{ id: "money", title: "Where the money is" },
		html`<p class="big">${showTokens(config.deployment, funds)}</p>
		<p>${holders[funds.holder] ?? funds.holder}, on ${chainNames.name(funds.chainId)}</p>
		${failure ? html`<p class="why">${pill(failure.code, "warn")} ${failure.message}</p>` : null}`,
	);
}

function state(
	explanation: Explanation,
	{ chainNames, nowMs, isStuck }: Context & { isStuck: boolean },
): Content {
	const { fact, means, waitsFor, actions, pauses } = explanation;
	const isOver = fact === "ended";
	return section(
		{ id: "state", title: isOver ? "How it ended" : "What it is at" },
		html`<p>${pill(fact, toneOf(explanation))} ${means}</p>`,
		isOver ? null : nextSteps(explanation, { chainNames, isStuck }),
		list("A round would now", actions, chainNames),
		list("It waits for", waitsFor, chainNames),
		list(
			"Pauses of its chains",
			pauses.map((pause) => {
				const effect = pause.holdsUp ? "holds this swap up" : "stops new swaps only; this one goes on";
				return `${describePause(pause)} (${effect})`;
			}),
			chainNames,
		),
		isOver
			? null
			: html`<details><summary>The facts that decide</summary><ul>${explanation.facts.map(
					(text) => html`<li>${chainNames.withNames(text)}</li>`,
				)}</ul><p class="quiet">as of ${moment(new Date(nowMs))} UTC</p></details>`,
	);
}

function toneOf({ fact, todo }: Explanation) {
	if (fact === "ended") return "quiet" as const;
	if (fact === "stuck") return "bad" as const;
	return todo.length > 0 ? ("warn" as const) : ("busy" as const);
}

/**
 * Returns the next steps. Every state has one, even if it is to wait, except that a stuck swap is never only waited
 * for.
 */
function nextSteps(
	{ todo, swap }: Explanation,
	{ chainNames, isStuck }: { chainNames: ChainNames; isStuck: boolean },
): Content {
	const stuck: Todo = {
		what: `It made no progress for longer than its chains should take. Search the workers' log for ${swap.uuid}, and see docs/runbooks/GeoswapSwapsStuck.md.`,
		command: `geoswapd swaps explain ${swap.swapId}`,
	};
	const steps = isStuck ? [...todo, stuck] : todo;
	return html`<div class="steps"><h3>Next step</h3>
		${
			steps.length === 0
				? html`<p>Nothing: the service goes on by itself.</p>`
				: html`<ol>${steps.map((step) => html`<li>${describeTodo(step, chainNames)}</li>`)}</ol>`
		}</div>`;
}

function describeTodo({ what, command }: Todo, chainNames: ChainNames): Content {
	return [chainNames.withNames(what), command ? html`<pre><code>${command}</code></pre>` : null];
}

function list(title: string, lines: readonly string[], chainNames: ChainNames): Content {
	if (lines.length === 0) return null;
	return html`<h3>${title}</h3><ul>${lines.map((line) => html`<li>${chainNames.withNames(line)}</li>`)}</ul>`;
}

function timeline(
	{ swap, explanation, history }: { swap: SwapRecord; explanation: Explanation; history: SwapHistory },
	context: Context,
): Content {
	const moments = swapTimeline(explanation.swap, history);
	const startMs = swap.createdAt.getTime();
	return section(
		{ id: "timeline", title: "Timeline", note: "UTC, and the time since the submit" },
		html`<ol class="timeline">
			<li class="fact"><span class="when">${moment(swap.createdAt)}</span><span class="since">0 s</span>
				<div><b>submitted</b><p>The wallet's signed op was accepted.</p></div></li>
			${moments.map(
				(one) => html`<li class=${one.kind}><span class="when">${moment(one.at)}</span>
					<span class="since">+${duration((one.at.getTime() - startMs) / 1_000)}</span>
					<div>${describe(one, context)}</div></li>`,
			)}
		</ol>`,
	);
}

function describe(one: Moment, { chainNames }: Context): Content {
	switch (one.kind) {
		case "fact": {
			const words = factWords[one.fact as Fact] as { means: string } | undefined;
			return html`<b>${one.fact}</b>${one.givingUp ? html` ${pill(one.givingUp, "warn")}` : null}<p>${words?.means ?? ""}</p>`;
		}
		case "transaction": {
			const { kind, chainId, hash, relayer, nonce, attempt, state, blockNumber } = one.transaction;
			const where = blockNumber === null ? state : `${state} in block ${blockNumber}`;
			const again = attempt > 0 ? `, attempt ${attempt + 1}` : "";
			return html`<b>${kind} sent on ${chainNames.name(chainId)}</b> ${transactionLink(chainNames, chainId, hash)}
				<p>${where}; relayer ${addressLink(chainNames, chainId, relayer)}, nonce ${nonce}${again}</p>`;
		}
		case "end":
			return html`<b>ended</b><p>Everything is final, and nothing is left to do.</p>`;
	}
}

function terms(swap: SwapRecord, { swap: view }: Explanation, { config, chainNames }: Context): Content {
	const { terms, orderId, originTxHash, deliveryTxHash, refundTxHash } = view;
	const [originId, destinationId] = [terms.input.chainId, terms.output.chainId];
	const time = (text: string) => (Number.isNaN(Date.parse(text)) ? text : moment(new Date(text)));
	return section(
		{ id: "terms", title: "Terms" },
		facts([
			["Swap", html`<span class="mono">${view.swapId}</span> <small class="mono quiet">${view.uuid}</small>`],
			["Order", html`<span class="mono">${orderId}</span>`],
			["Wallet", addressLink(chainNames, originId, terms.wallet)],
			["Recipient", addressLink(chainNames, destinationId, terms.recipient)],
			["Input", showTokens(config.deployment, terms.input)],
			["Quoted output", showTokens(config.deployment, terms.output)],
			["At least", showTokens(config.deployment, terms.minOutput)],
			terms.topUp !== null && ["Top-up", showTokens(config.deployment, terms.topUp)],
			["Fee", `${terms.feeBps} bps`],
			["Account", swap.accountId ?? "none, because the row was rebuilt from the chain"],
			originTxHash !== undefined && ["Deposit", transactionLink(chainNames, originId, originTxHash)],
			deliveryTxHash !== undefined && [
				"Delivery",
				transactionLink(chainNames, destinationId, deliveryTxHash),
			],
			refundTxHash !== undefined && ["Refund", transactionLink(chainNames, originId, refundTxHash)],
			["Open until", time(terms.openDeadline)],
			["Fill until", time(terms.fillDeadline)],
			["Anyone may refund from", time(terms.refundAfter)],
		]),
	);
}

function onChains({ events }: SwapHistory, { chainNames }: Context): Content {
	return section(
		{ id: "events", title: "On the chains" },
		table({
			label: "Events of the order",
			columns: [
				{ title: "Event" },
				{ title: "Chain" },
				{ title: "Block", isNumber: true },
				{ title: "Final" },
				{ title: "Transaction" },
			],
			rows: events.map(({ name, cause, chainId, blockNumber, isFinal, transactionHash }) => [
				cause ? `${name} (${cause})` : name,
				chainNames.name(chainId),
				String(blockNumber),
				isFinal ? pill("final", "good") : pill("not final", "busy"),
				transactionLink(chainNames, chainId, transactionHash),
			]),
			none: "Nothing of this order is on a chain.",
		}),
	);
}

function jobs({ jobs }: Explanation, { chainNames, nowMs }: Context): Content {
	if (jobs.length === 0) return null;
	return section(
		{ id: "jobs", title: "Jobs" },
		table({
			label: "Jobs of the swap",
			columns: [
				{ title: "Job" },
				{ title: "Chain" },
				{ title: "State" },
				{ title: "Since" },
				{ title: "Lane" },
				{ title: "Failures", isNumber: true },
				{ title: "Why" },
			],
			rows: jobs.map(({ kind, chainId, state, updatedAt, relayer, nonce, failures, reason, lastError }) => [
				kind,
				chainNames.name(chainId),
				pill(state, state === "done" ? "good" : state === "refused" ? "bad" : "busy"),
				ago(updatedAt, nowMs),
				relayer ? [addressLink(chainNames, chainId, relayer), nonce === null ? "" : ` nonce ${nonce}`] : "–",
				failures,
				reason ?? lastError ?? "–",
			]),
			none: "",
		}),
	);
}
