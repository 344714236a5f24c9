import { fromSwapId, SwapError } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { parseCursor } from "../event/create-event-feed.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { Route } from "../http/route.ts";
import { exampleEventStream, exampleStatus, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { createSwapReader } from "../status/swap-reader.ts";

/** GET /events: what happens to all swaps of the account, as server-sent events. */
export function getEvents(parts: StreamParts): Route {
	return {
		method: "GET",
		path: "/events",
		operation: "status",
		isStream: true,
		doc: getEventsDoc,
		handle: async (request) => {
			const { lastEventId, account } = request;
			const after = lastEventId === undefined ? undefined : parseCursor(lastEventId);
			return openStream(request, { heldBy: account.keyId, accountId: account.accountId, after }, parts);
		},
	};
}

const getEventsDoc: RouteDoc = {
	id: "getEvents",
	summary: "Follow all swaps",
	description: `A stream of [server-sent events](https://html.spec.whatwg.org/multipage/server-sent-events.html): one for each change of the
status or stage of a swap of the account, from now on. Each event's \`data\` is JSON: \`id\`, \`type\`, \`timestamp\`, and in \`data\` what
\`GET /swap/status/{swapId}\` would have answered. The events of one swap come in order.

The service ends a stream after at most 15 minutes, and whenever a process stops. Open it again with the \`id\` line of the last
event in the header \`Last-Event-ID\`: nothing is missed. \`Last-Event-ID: 0\` begins with the oldest event that is kept. An event may
come twice: ignore an \`id\` in the JSON that you have handled. An event \`reset\` says that events before it may be missing: read
\`GET /swaps\`.`,
	response: { contentType: "text/event-stream", description: "The events, until the stream ends." },
	errors: [],
	example: { response: exampleEventStream },
};

/** GET /swaps/{swapId}/events: what happens to one swap, from its submit to its end, as server-sent events. */
export function getSwapEvents({ db, ...parts }: StreamParts & { db: Database }): Route {
	const swaps = createSwapReader({ db });
	return {
		method: "GET",
		path: "/swaps/:swapId/events",
		operation: "status",
		isStream: true,
		doc: getSwapEventsDoc,
		handle: async (request) => {
			const { params, lastEventId, account } = request;
			const uuid = fromSwapId(params.swapId ?? "");
			const swap = uuid && (await swaps.read(uuid));
			const { accountId, keyId } = account;
			if (swap?.accountId !== accountId) throw new SwapError("SWAP_NOT_FOUND", undefined);
			const after = lastEventId === undefined ? undefined : parseCursor(lastEventId);
			return openStream(request, { heldBy: keyId, accountId, swap, after }, parts);
		},
	};
}

const getSwapEventsDoc: RouteDoc = {
	id: "getSwapEvents",
	summary: "Follow a swap without polling",
	description: `A stream of server-sent events like \`GET /events\`, about one swap. It begins with the swap's first event, or after the event in
\`Last-Event-ID\`. After the last event of a swap that has ended, the stream has an event \`end\`, whose data is the swap's final
status, and ends. Do not open it again then.`,
	params: { swapId: "The id that submit returned." },
	response: {
		contentType: "text/event-stream",
		description: "The events, until the swap or the stream ends.",
	},
	errors: ["SWAP_NOT_FOUND"],
	example: {
		params: { swapId: exampleSwapId },
		response: `${exampleEventStream}event: end\ndata: ${JSON.stringify(exampleStatus)}\n\n`,
	},
};
