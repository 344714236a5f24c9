import { type WebhooksResponse, webhooksResponseSchema } from "@geoswap/protocol";
import { listWebhooks, type WebhookRow } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { exampleWebhookId, exampleWebhookUrl } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import type { WebhookParts } from "./post-webhook.ts";
import { toWebhookId } from "./webhook-id.ts";

/** GET /webhooks: the account's webhooks, with the state of their deliveries. */
export function getWebhooks({ db }: Pick<WebhookParts, "db">): Route {
	return {
		method: "GET",
		path: "/webhooks",
		operation: "list",
		doc: getWebhooksDoc,
		handle: async ({ account: { accountId } }): Promise<WebhooksResponse> => {
			return { webhooks: (await listWebhooks(db, accountId)).map(webhookAnswer) };
		},
	};
}

function webhookAnswer(row: WebhookRow): WebhooksResponse["webhooks"][number] {
	const { last_success_at, failing_since, last_error, last_error_at } = row;
	return {
		webhookId: toWebhookId(row.id),
		url: row.url,
		state: row.disabled_at ? "disabled" : failing_since ? "failing" : "active",
		createdAt: row.created_at.toISOString(),
		...(last_success_at && { lastSuccessAt: last_success_at.toISOString() }),
		...(failing_since && { failingSince: failing_since.toISOString() }),
		...(last_error !== null && { lastError: last_error }),
		...(last_error_at && { lastErrorAt: last_error_at.toISOString() }),
		waiting: row.waiting,
		givenUp: row.given_up,
	};
}

const getWebhooksDoc: RouteDoc = {
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
