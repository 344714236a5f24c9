import { SwapError } from "@geoswap/protocol";

/** A place in the events, as the `id` of a server-sent event has it. */
export type EventCursor = {
	/** The number of times that the database was restored. */
	epoch: number;
	position: number;
};

export function formatCursor({ epoch, position }: EventCursor): string {
	return `${epoch}-${position}`;
}

/** Reads the value of a `Last-Event-ID` header. `0` is the beginning. Throws INVALID_REQUEST for anything else. */
export function parseCursor(text: string): EventCursor | "beginning" {
	if (text === "0") return "beginning";
	const [, epoch, position] = /^(0|[1-9]\d{0,8})-(0|[1-9]\d{0,14})$/.exec(text) ?? [];
	if (epoch !== undefined && position !== undefined) {
		return { epoch: Number(epoch), position: Number(position) };
	}
	throw new SwapError("INVALID_REQUEST", {
		issues: [
			{
				path: "last-event-id",
				message:
					"is not the id of an event: send the id of the last event unchanged, 0 for the oldest, or no header",
			},
		],
	});
}
