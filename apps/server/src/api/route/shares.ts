import {
	type ErrorBody,
	fromSwapId,
	isTerminal,
	type Milliseconds,
	type RevokedShares,
	receiptResponseSchema,
	revokedSharesSchema,
	type ShareResponse,
	SwapError,
	type SwapUuid,
	shareResponseSchema,
	toSwapId,
} from "@geoswap/protocol";
import * as z from "zod";
import type { ChainNames } from "../../config/chain-names.ts";
import type { Database, DatabasePool } from "../../database/database.ts";
import type { Fact } from "../../swap/decide/decision.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { type ChainPace, isStuckSwap } from "../../swap/record/stuck-swaps.ts";
import { parseCursor } from "../event/create-event-feed.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { EventStream, Route, RouteRequest } from "../http/route.ts";
import { exampleShare, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { html } from "../page/html.ts";
import { sharePage } from "../share/share-page.ts";
import { shareHeaders, shareShell } from "../share/share-shell.ts";
import { deleteShares, insertShare, newShareToken, readSharedSwap } from "../share/shares.ts";
import type { Receipts } from "../status/create-receipts.ts";
import { type AnswerParts, swapAnswer } from "../status/swap-answer.ts";
import { getReceiptDoc } from "./get-receipt.ts";

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

const shareParams = { share: "The `token` that the creation of the link returned." };

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

/** POST /swaps/{swapId}/share: a link to the swap's public page. */
export function postShare({
	db,
	publicUrl,
	random,
}: {
	db: DatabasePool;
	/** The address in links. Undefined if links use the address that the caller used. */
	publicUrl: string | undefined;
	random: (bytes: number) => Uint8Array;
}): Route {
	return {
		method: "POST",
		path: "/swaps/:swapId/share",
		operation: "list",
		doc: postShareDoc,
		async handle(request): Promise<ShareResponse> {
			const swapId = await readOwnSwapId(db, request);
			const token = newShareToken(random);
			const base = publicUrl ?? request.origin;
			if (base === undefined) {
				const message = "is missing: name the host by which you reach the service";
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "host", message }] });
			}
			await insertShare(db, { token, swapId });
			return { swapId: toSwapId(swapId), url: new URL(`/s/${token}`, base).href, token };
		},
	};
}

/** Returns the id in the path. Throws if it is not a swap of the caller's account. */
async function readOwnSwapId(
	db: Database,
	{ params, account: { accountId } }: Pick<RouteRequest, "params" | "account">,
): Promise<SwapUuid> {
	const uuid = fromSwapId(params.swapId ?? "");
	const swap = uuid && (await readSwap(db, uuid));
	if (swap?.accountId !== accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
	return swap.id;
}

const postShareDoc: RouteDoc = {
	id: "shareSwap",
	summary: "Create a link to a page of a swap",
	description: `Returns the address of a page for people: it shows what is happening with the money, live, and what was proved. Whoever has the
address sees the page, without a key. Each call makes another link, because the service stores only a hash of it. A swap can have
20 links; one more replaces the oldest. \`DELETE /swaps/{swapId}/share\` revokes them. The body is an empty object.`,
	params: { swapId: "The id that submit returned." },
	body: z.object({}),
	response: shareResponseSchema,
	errors: ["SWAP_NOT_FOUND"],
	example: {
		params: { swapId: exampleSwapId },
		body: {},
		response: {
			swapId: exampleSwapId,
			url: `https://swaps.example/s/${exampleShare}`,
			token: exampleShare,
		},
	},
};

/** DELETE /swaps/{swapId}/share: disables all links to the swap's page. */
export function deleteShare({ db }: { db: Database }): Route {
	return {
		method: "DELETE",
		path: "/swaps/:swapId/share",
		operation: "list",
		doc: deleteShareDoc,
		async handle(request): Promise<RevokedShares> {
			const swapId = await readOwnSwapId(db, request);
			return { swapId: toSwapId(swapId), revoked: await deleteShares(db, swapId) };
		},
	};
}

const deleteShareDoc: RouteDoc = {
	id: "revokeShares",
	summary: "Revoke the links to a swap's page",
	description: "No link to the page of this swap shows anything any more. A new one can be created.",
	params: { swapId: "The id that submit returned." },
	response: revokedSharesSchema,
	errors: ["SWAP_NOT_FOUND"],
	example: { params: { swapId: exampleSwapId }, response: { swapId: exampleSwapId, revoked: 1 } },
};

/**
 * GET /s/{share}/events: notifies the page that it has changed. All viewers of an account's swaps together have as
 * many streams as one of its keys. A page that gets no stream polls instead.
 */
export function getShareEvents({ db, ...parts }: StreamParts & { db: Database }): Route {
	return {
		method: "GET",
		path: "/s/:share/events",
		operation: undefined,
		limitedAs: "share",
		isStream: true,
		doc: getShareEventsDoc,
		async handle(request): Promise<EventStream> {
			const { params, lastEventId } = request;
			const swap = await readSharedSwap(db, params.share ?? "");
			const { accountId } = swap;
			// A swap that was rebuilt from the chain has no account yet, and its events belong to no account.
			if (accountId === undefined) throw new SwapError("NOT_FOUND", undefined);
			const after = lastEventId === undefined ? undefined : parseCursor(lastEventId);
			const heldBy = `share:${accountId}`;
			const stream = await openStream(request, { heldBy, accountId, swap, after }, parts);
			return (sink) => stream({ ...sink, send: (text) => sink.send(withoutData(text)) });
		},
	};
}

/** Removes the content of events. The link may be revoked while the stream is open, and the page is read anyway. */
function withoutData(text: string): string {
	return text.replace(/^data: .*$/m, "data: {}");
}

const getShareEventsDoc: RouteDoc = {
	id: "getShareEvents",
	summary: "Learn when a shared swap changes",
	description: `A stream of server-sent events: one whenever the swap has changed, and \`end\` when it has ended. The events say nothing else. Read the
page again.`,
	params: shareParams,
	response: {
		contentType: "text/event-stream",
		description: "The events, until the swap or the stream ends.",
	},
	errors: ["NOT_FOUND", "UPSTREAM_UNAVAILABLE"],
	example: {
		params: { share: exampleShare },
		response: "id: 0-41\ndata: {}\n\nevent: end\ndata: {}\n\n",
	},
};

/** GET /s/{share}/receipt: the swap's signed receipt, for anyone with the link. */
export function getShareReceipt({ db, receipts }: { db: Database; receipts: Pick<Receipts, "of"> }): Route {
	return {
		method: "GET",
		path: "/s/:share/receipt",
		operation: undefined,
		limitedAs: "share",
		doc: getShareReceiptDoc,
		headers: { "cache-control": "no-store", "x-robots-tag": "noindex" },
		handle: async ({ params }) => receipts.of(await readSharedSwap(db, params.share ?? "")),
	};
}

const getShareReceiptDoc: RouteDoc = {
	id: "getShareReceipt",
	summary: "Get the signed receipt of a shared swap",
	description: "The same receipt as `GET /swaps/{swapId}/receipt` returns, for whoever has the link.",
	params: shareParams,
	response: receiptResponseSchema,
	errors: ["NOT_FOUND", "RECEIPTS_NOT_OFFERED", "SWAP_NOT_ENDED", "UPSTREAM_UNAVAILABLE"],
	example: { params: { share: exampleShare }, response: getReceiptDoc.example.response },
};
