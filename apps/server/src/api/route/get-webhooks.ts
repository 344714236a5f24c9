import type { WebhooksResponse } from "@geoswap/protocol";
import { listWebhooks, type WebhookRow } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { getWebhooksDoc } from "../openapi/endpoints/get-webhooks.ts";
import type { WebhookParts } from "./post-webhook.ts";
import { toWebhookId } from "./webhook-id.ts";

/** GET /webhooks: the account's webhooks, and how they are doing. */
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
