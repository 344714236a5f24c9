import { rotatedWebhookSchema } from "@geoswap/protocol";
import * as z from "zod";
import type { RouteDoc } from "../route-doc.ts";
import { exampleWebhookId, exampleWebhookSecret } from "./example-webhook.ts";

export const postWebhookRotateDoc: RouteDoc = {
	id: "rotateWebhook",
	summary: "Replace a webhook's secret",
	description: `Returns a new signing secret. Each secret before also signs events for a day after it was replaced, so that your receiver accepts
them before and after it learns the new one. If no answer arrives, send the request again: the secret that your receiver knows stays
valid. At most 10 secrets are valid at the same time. The body is an empty object.`,
	params: { webhookId: "The id of the webhook." },
	body: z.object({}),
	response: rotatedWebhookSchema,
	errors: ["NOT_FOUND"],
	example: {
		params: { webhookId: exampleWebhookId },
		body: {},
		response: {
			webhookId: exampleWebhookId,
			secret: exampleWebhookSecret,
			previousUntil: "2026-06-02T12:00:00.000Z",
		},
	},
};
