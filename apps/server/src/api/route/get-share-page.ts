import { type ErrorBody, isTerminal, type Milliseconds, type SwapUuid } from "@geoswap/protocol";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Database } from "../../database/database.ts";
import type { Fact } from "../../swap/decide/decision.ts";
import { type ChainPace, isStuckSwap } from "../../swap/record/stuck-swaps.ts";
import type { Route } from "../http/route.ts";
import { exampleShare } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { html } from "../page/html.ts";
import { sharePage } from "../share/share-page.ts";
import { shareHeaders, shareShell } from "../share/share-shell.ts";
import { readSharedSwap } from "../share/shares.ts";
import { type AnswerParts, swapAnswer } from "../status/swap-answer.ts";

/** GET /s/{share}: the page of a swap, for anyone with the link. */
export function getSharePage({
	db,
	chainNames,
	paces,
	hasReceipts,
	nowMs,
	...answerParts
}: AnswerParts & {
	db: Database;
	chainNames: ChainNames;
	/** How long the chains take, to detect a late swap. */
	paces: readonly ChainPace[];
	/** True if the service signs receipts. */
	hasReceipts: boolean;
	nowMs: () => Milliseconds;
}): Route {
	return {
		method: "GET",
		path: "/s/:share",
		operation: undefined,
		limitedAs: "share",
		doc: getSharePageDoc,
		contentType: "text/html; charset=utf-8",
		headers: shareHeaders,
		errorPage: shareErrorPage,
		async handle({ params }) {
			const token = params.share ?? "";
			const swap = await readSharedSwap(db, token);
			const isOver = isTerminal(swap.status);
			const now = nowMs();
			const isLate = !isOver && (await isStuckSwap(db, { id: swap.id, paces, nowMs: now }));
			const fact = isOver ? undefined : await readFact(db, swap.id);
			const answer = swapAnswer(swap, answerParts);
			return sharePage({ swap, answer, isLate, fact, token, hasReceipts, nowMs: now }, chainNames);
		},
	};
}

/** Returns the step at which the last round found the swap. */
async function readFact(db: Database, id: SwapUuid): Promise<Fact | undefined> {
	const { rows } = await db.query<{ fact: Fact | null }>("select fact from waits where swap_id = $1", [id]);
	return rows[0]?.fact ?? undefined;
}

export const shareParams = { share: "The `token` that the creation of the link returned." };

const getSharePageDoc: RouteDoc = {
	id: "getSharePage",
	summary: "The page of a shared swap",
	description: `An HTML page about one swap, for whoever has the link: how it is doing, where the money is, what was agreed, and what was
proved. It updates itself. A link that was revoked, and one that never existed, are 404.`,
	params: shareParams,
	response: { contentType: "text/html", description: "The page." },
	errors: ["NOT_FOUND", "UPSTREAM_UNAVAILABLE"],
	example: { params: { share: exampleShare }, response: "<!doctype html>" },
};

/** Returns the page for a link that shows nothing, or nothing at the moment. */
function shareErrorPage({ code, message, requestId }: ErrorBody): string {
	const isGone = code === "NOT_FOUND";
	const headline = isGone ? "Nothing to see here" : "Not now";
	const main = html`<header class="top">Geoswap</header>
		<section class="card back" aria-labelledby="headline">
			<h1 id="headline">${headline}</h1>
			<p>${isGone ? message : "The page could not be made at this moment. Nothing happened to the money. Open it again in a minute."}</p>
			${isGone ? null : html`<p class="quiet">If it persists, tell the operator: <code>${requestId}</code></p>`}
		</section>`;
	return shareShell({ title: `${headline} · Geoswap`, main });
}
