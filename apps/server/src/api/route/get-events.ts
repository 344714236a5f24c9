import { parseCursor } from "../event/event-cursor.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { Route } from "../http/route.ts";
import { getEventsDoc } from "../openapi/endpoints/get-events.ts";

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
