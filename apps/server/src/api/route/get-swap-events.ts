import { fromSwapId, SwapError } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { parseCursor } from "../event/event-cursor.ts";
import { openStream, type StreamParts } from "../event/open-stream.ts";
import type { Route } from "../http/route.ts";
import { getSwapEventsDoc } from "../openapi/endpoints/get-swap-events.ts";
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
