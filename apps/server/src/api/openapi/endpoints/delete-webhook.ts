import { removedWebhookSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleWebhookId } from "./example-webhook.ts";

export const deleteWebhookDoc: RouteDoc = {
	id: "removeWebhook",
	summary: "Remove a webhook",
	description: "Nothing more is sent to it, not even events that wait for a retry.",
	params: { webhookId: "The id of the webhook." },
	response: removedWebhookSchema,
	errors: ["NOT_FOUND"],
	example: { params: { webhookId: exampleWebhookId }, response: { webhookId: exampleWebhookId } },
};
