import { parseCursor } from "../event/event-cursor.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { Route } from "../http/route.ts";
import { exampleEventStream } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

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
