import { type RemovedWebhook, removedWebhookSchema } from "@geoswap/protocol";
import { deleteWebhook as deleteRow } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { exampleWebhookId } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import type { WebhookParts } from "./post-webhook.ts";
import { fromWebhookId, noWebhook, toWebhookId } from "./webhook-id.ts";

/** DELETE /webhooks/{webhookId}: stops sending to the webhook, including events that are queued. */
export function deleteWebhook({ db }: Pick<WebhookParts, "db">): Route {
	return {
		method: "DELETE",
		path: "/webhooks/:webhookId",
		operation: "list",
		doc: deleteWebhookDoc,
		handle: async ({ params, account: { accountId } }): Promise<RemovedWebhook> => {
			const id = fromWebhookId(params.webhookId ?? "");
			if (!(await deleteRow(db, { id, accountId }))) throw noWebhook();
			return { webhookId: toWebhookId(id) };
		},
	};
}

const deleteWebhookDoc: RouteDoc = {
	id: "removeWebhook",
	summary: "Remove a webhook",
	description: "Nothing more is sent to it, not even events that wait for a retry.",
	params: { webhookId: "The id of the webhook." },
	response: removedWebhookSchema,
	errors: ["NOT_FOUND"],
	example: { params: { webhookId: exampleWebhookId }, response: { webhookId: exampleWebhookId } },
};
