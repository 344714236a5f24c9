import { webhookRequestSchema, webhookResponseSchema } from "@geoswap/protocol";
import type { RouteDoc } from "../route-doc.ts";
import { exampleWebhookId, exampleWebhookSecret, exampleWebhookUrl } from "./example-webhook.ts";

export const postWebhookDoc: RouteDoc = {
	id: "addWebhook",
	summary: "Add a webhook",
	description: `Sends each event of the account's swaps, from now on, to an address of yours. Events are the same as in \`GET /events\`, as the body
of a POST that is signed by [Standard Webhooks](https://www.standardwebhooks.com): verify it with one of its libraries and the
\`secret\` of this answer, which is shown only once. Answer with any 2xx within 10 seconds. Otherwise the event is sent again, with
growing pauses, for a day. Events of one swap come in order, at least once: ignore a \`webhook-id\` that you have handled. An
account can have 10 webhooks. If the operator has not set webhooks up, the answer is 404.`,
	body: webhookRequestSchema,
	response: webhookResponseSchema,
	errors: ["NOT_FOUND"],
	example: {
		body: { url: exampleWebhookUrl },
		response: { webhookId: exampleWebhookId, url: exampleWebhookUrl, secret: exampleWebhookSecret },
	},
};
