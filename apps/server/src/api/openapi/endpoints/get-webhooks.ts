import { webhooksResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleWebhookId, exampleWebhookUrl } from "./example-webhook.ts";

export const getWebhooksDoc: RouteDoc = {
	id: "listWebhooks",
	summary: "List webhooks",
	description: `Returns the account's webhooks, and whether their receivers accept what is sent to them. A webhook that has failed for a whole
day, or whose receiver answers 410, is disabled, and what waited for it is dropped. Delete it and add it again, and read
\`GET /swaps\` for what was missed.`,
	response: webhooksResponseSchema,
	errors: [],
	example: {
		response: {
			webhooks: [
				{
					webhookId: exampleWebhookId,
					url: exampleWebhookUrl,
					state: "failing",
					createdAt: "2026-06-01T12:00:00.000Z",
					lastSuccessAt: "2026-06-01T12:10:00.000Z",
					failingSince: "2026-06-01T12:20:00.000Z",
					lastError: "the receiver answered 500",
					lastErrorAt: "2026-06-01T12:20:05.000Z",
					waiting: 2,
					givenUp: 0,
				},
			],
		},
	},
};
