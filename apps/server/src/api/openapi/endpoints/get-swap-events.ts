import type { RouteDoc } from "../route-doc.ts";
import { exampleEventStream } from "./example-event.ts";
import { exampleStatus, exampleSwapId } from "./example-swap.ts";

export const getSwapEventsDoc: RouteDoc = {
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
