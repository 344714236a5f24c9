import type { RouteDoc } from "../route-doc.ts";
import { exampleShare } from "./example-share.ts";
import { shareParams } from "./get-share-page.ts";

export const getShareEventsDoc: RouteDoc = {
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
