import { isTerminal, type Milliseconds, type StatusResponse } from "@geoswap/protocol";
import type { ChainNames } from "../../config/chain-names.ts";
import { moment, short } from "../page/format.ts";
import { type Content, html } from "../page/html.ts";
import { type SwapAmounts, swapAmounts } from "../page/swap-amounts.ts";
import { shareShell } from "./share-shell.ts";
import { type SharedSwap, type ShareWords, type Step, shareWords } from "./share-words.ts";

type Page = SharedSwap & {
	/** The secret part of the link. */
	token: string;
	/** True if the service signs receipts. */
	hasReceipts: boolean;
	nowMs: Milliseconds;
};

/**
 * Returns the page of a shared swap, which shows what is happening, where the money is, what was agreed and what was
 * proved.
 */
export function sharePage(page: Page, chainNames: ChainNames): string {
	const { swap, answer, token } = page;
	const amounts = swapAmounts(swap, chainNames);
	const words = shareWords(page, { exact: amounts, brief: swapAmounts(swap, chainNames, { decimals: 2 }) });
	const isOver = isTerminal(answer.status);
	const path = `/s/${token}`;
	const main = html`<header class="top">Geoswap <span>A swap from ${amounts.origin} to ${amounts.destination}</span></header>
		${summary(words, page)}
		${section("money", "Where the money is", html`<p class="amount">${words.money.amount}</p><p>${words.money.where}</p>`)}
		${section("steps", "Step by step", html`<ol class="steps">${words.steps.map(step)}</ol>`)}
		${terms(answer, { amounts, chainNames })}
		${proof(page, { amounts, path })}
		<footer>
			<p class="live">${isOver ? "The swap is over. This page stays as it is." : "This page updates itself."}</p>
			<p>Whoever has the link can see this page, until the sender revokes it. <a href="/docs">What Geoswap is</a></p>
		</footer>`;
	const title = `${words.status}: ${words.headline} · Geoswap`;
	return shareShell({ title, main, livePath: isOver ? undefined : path });
}

function summary({ tone, status, headline, now, next }: ShareWords, page: Page): Content {
	return html`<section class=${`card ${tone}`} aria-labelledby="headline">
		<p class="status">${status}</p>
		<h1 id="headline">${headline}</h1>
		<p class="now">${now}</p>
		<p class="next">${next}</p>
		${deadline(page)}
	</section>`;
}

/**
 * Returns the line with the time at which the swap is over at the latest. From then on anyone can return the input.
 */
function deadline({ answer: { decidedBy }, nowMs }: Page): Content {
	if (decidedBy === undefined) return null;
	const at = new Date(decidedBy);
	const time = moment(at);
	const isPast = at.getTime() < nowMs;
	const wayOut = html`<a href="/docs/rescue">the money can be taken back without this service</a>`;
	return isPast
		? html`<p class="quiet">It should have been over by ${time}. If it was not paid out, ${wayOut}.</p>`
		: html`<p class="quiet">It is over by ${time} at the latest. If it is not, ${wayOut}.</p>`;
}

function section(id: string, title: string, content: Content): Content {
	return html`<section class="card" aria-labelledby=${`${id}-title`}><h2 id=${`${id}-title`}>${title}</h2>${content}</section>`;
}

const stateWords = { done: "done", now: "happening now", next: "not yet" } as const;

function step({ text, at, state }: Step): Content {
	return html`<li class=${state} aria-current=${state === "now" ? "step" : undefined}>
		<span>${text}</span> <span class="hidden">(${stateWords[state]})</span>
		${at ? moment(new Date(at)) : null}
	</li>`;
}

function terms(
	answer: StatusResponse,
	{ amounts, chainNames }: { amounts: SwapAmounts; chainNames: ChainNames },
): Content {
	const { terms, deliveredAmount, swapId, status } = answer;
	const isBack = status === "refunded" || status === "failed";
	const { input, quotedOutput, minOutput, output, topUp, origin, destination } = amounts;
	const rows: [string, Content][] = [
		["Gives", `${input} on ${origin}`],
		["Promised", `about ${quotedOutput} on ${destination}`],
		["At least", html`${minOutput}, or everything goes back`],
		...(topUp === undefined ? [] : [["For gas", `${topUp} in addition`] as [string, Content]]),
		...(deliveredAmount === undefined ? [] : [["Delivered", output] as [string, Content]]),
		["Fee", isBack ? "none" : `${percent(terms.feeBps)}, already taken off what was promised`],
		["From", address(terms.walletAddress, chainNames.addressUrl(terms.originChain, terms.walletAddress))],
		["To", address(terms.recipient, chainNames.addressUrl(terms.destinationChain, terms.recipient))],
		["Swap", html`<code>${swapId}</code>`],
	];
	return section(
		"terms",
		"What was agreed",
		html`<dl>${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
	);
}

/** Formats basis points without a float's tail. */
function percent(feeBps: number): string {
	return `${Number((feeBps / 100).toFixed(5))} %`;
}

function address(text: string, url: string | undefined): Content {
	return url ? html`<a href=${url} rel="noreferrer"><code>${text}</code></a>` : html`<code>${text}</code>`;
}

function proof(
	{ answer, hasReceipts }: Page,
	{ amounts, path }: { amounts: SwapAmounts; path: string },
): Content {
	const { originTxHash, deliveryTxHash, refundTxHash, links, status } = answer;
	const { input, output, origin, destination } = amounts;
	const shown: [string, string | undefined, string | undefined][] = [
		[`${input} was taken from the wallet on ${origin}`, originTxHash, links.origin],
		[`${output} was paid to the recipient on ${destination}`, deliveryTxHash, links.delivery],
		[`${input} was returned to the wallet on ${origin}`, refundTxHash, links.refund],
	];
	const known = shown.filter(([, hash]) => hash !== undefined);
	return section(
		"proof",
		"What was proved",
		html`${
			known.length === 0
				? html`<p class="quiet">Nothing of this swap is on a public chain${status === "pending" ? " yet" : ""}.</p>`
				: html`<p>These transactions are on public chains, where anyone can check them:</p>
					<ul class="proofs">${known.map(([text, hash = "", url]) => html`<li>${text}<br />${transaction(hash, url)}</li>`)}</ul>`
		}
		${hasReceipts ? receipt(status, path) : null}`,
	);
}

function transaction(hash: string, url: string | undefined): Content {
	const text = html`<code title=${hash}>${short(hash, 12)}</code>`;
	return url ? html`<a href=${url} rel="noreferrer">${text}</a>` : text;
}

function receipt(status: StatusResponse["status"], path: string): Content {
	if (!isTerminal(status)) {
		return html`<p class="quiet">When the swap is over, the service signs a receipt, which anyone can check.</p>`;
	}
	return html`<p>The service has signed a receipt: what was promised, and what came of it. <a href=${`${path}/receipt`} download="receipt.json">Download the receipt</a></p>
		<p>This checks it against the chains, without asking this service (<a href="/docs/receipts">how</a>):</p>
		<pre tabindex="0"><code>geoswap verify-receipt receipt.json</code></pre>`;
}
