import { SwapError } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { parseCursor } from "../event/event-cursor.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { EventStream, Route } from "../http/route.ts";
import { exampleShare } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { readSharedSwap } from "../share/shares.ts";
import { shareParams } from "./get-share-page.ts";

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
