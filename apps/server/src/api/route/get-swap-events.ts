import { fromSwapId, SwapError } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { parseCursor } from "../event/event-cursor.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { Route } from "../http/route.ts";
import { exampleEventStream, exampleStatus, exampleSwapId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { createSwapReader } from "../status/swap-reader.ts";

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
