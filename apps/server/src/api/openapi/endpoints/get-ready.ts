import { readyResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";

export const getReadyDoc: RouteDoc = {
	id: "getReady",
	summary: "Whether requests should be sent here",
	description: `For a load balancer, and for people who want to know what does not work. \`503 UPSTREAM_UNAVAILABLE\` means that this
process should get no requests: it is stopping, or it has just started and has not yet reached its database or priced a chain.
\`details.notReady\` names what it waits for. Once the process is up, it answers 200 until it stops. If a part does not work, the
status is \`degraded\`, and the checks say which part. Results are up to 250 ms old.`,
	response: readyResponseSchema,
	errors: ["UPSTREAM_UNAVAILABLE"],
	example: {
		response: {
			status: "degraded",
			checks: [
				{ name: "database", ready: true },
				{ name: "redis", ready: true },
				{ name: "engine", ready: true },
				{ name: "prices of Base (8453)", ready: true },
				{
					name: "assets of Base (8453)",
					ready: false,
					problem: "not quoted: ETH, because the feed of ETH is stale",
				},
				{ name: "worker on Base (8453)", ready: true },
			],
		},
	},
};
