import { exampleStatus, exampleSwapId } from "./example-swap.ts";

const exampleEvent = {
	id: `evt_${exampleSwapId.slice("swp_".length)}_4_settled`,
	type: "swap.settled",
	timestamp: exampleStatus.updatedAt,
	data: exampleStatus,
};

export const exampleEventStream = `retry: 2171\n\nid: 0-4711\ndata: ${JSON.stringify(exampleEvent)}\n\n`;
