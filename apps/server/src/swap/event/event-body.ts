import { type StatusResponse, type SwapEventBody, toSwapId } from "@geoswap/protocol";
import type { SwapRecord } from "../facts/swap-record.ts";
import type { SwapEvent } from "./read-events.ts";

/** Returns an event as callers get it, with the answer that a status call had given then. */
export function eventBody(
	event: SwapEvent,
	{ statusOf }: { statusOf: (swap: SwapRecord) => StatusResponse },
): SwapEventBody {
	const { swap, at } = event;
	return {
		id: eventId(event),
		type: `swap.${swap.status}`,
		timestamp: at.toISOString(),
		data: statusOf(swap),
	};
}

/**
 * Returns the event's id. It is made of what happened and not of a position, because after a restore positions are
 * given again, and a receiver that ignores known ids would ignore other events.
 */
function eventId({ number, swap: { id, status, stage } }: SwapEvent): string {
	const reached = status === "pending" ? stage : status;
	return `evt_${toSwapId(id).slice("swp_".length)}_${number}_${reached}`;
}
