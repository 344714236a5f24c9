import { type Milliseconds, type RotatedWebhook, rotatedWebhookSchema, SwapError } from "@geoswap/protocol";
import * as z from "zod";
import { newWebhookSecret, sealSecret } from "../../webhook/webhook-secret.ts";
import { rotateWebhook } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { exampleWebhookId, exampleWebhookSecret } from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { expectWebhookKeys, type WebhookParts } from "./post-webhook.ts";
import { fromWebhookId, noWebhook, toWebhookId } from "./webhook-id.ts";

/** How long a replaced secret still signs, so that receivers have time to switch to a newer one. */
const overlapMs = 86_400_000;
/** Secrets of a webhook that sign at the same time. Each adds a signature to every event. */
const most = 10;

/** POST /webhooks/{webhookId}/rotate: creates a new signing secret. */
export function postWebhookRotate({
	db,
	webhookKeys,
	nowMs,
}: Pick<WebhookParts, "db" | "webhookKeys"> & { nowMs: () => Milliseconds }): Route {
	return {
		method: "POST",
		path: "/webhooks/:webhookId/rotate",
		operation: "list",
		doc: postWebhookRotateDoc,
		handle: async ({ params, account: { accountId } }): Promise<RotatedWebhook> => {
			const id = fromWebhookId(params.webhookId ?? "");
			const keys = expectWebhookKeys(webhookKeys);
			const secret = newWebhookSecret();
			const sealedSecret = sealSecret(keys, { webhookId: id, secret });
			const now = nowMs();
			const previousUntilMs = now + overlapMs;
			const rotation = { id, accountId, sealedSecret, previousUntilMs, nowMs: now, most };
			const outcome = await rotateWebhook(db, rotation);
			if (outcome === "none") throw noWebhook();
			if (outcome === "too many") {
				const message = `cannot be rotated now: ${most} of its secrets are valid, each for a day after it was replaced`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "webhookId", message }] });
			}
			return {
				webhookId: toWebhookId(id),
				secret,
				previousUntil: new Date(previousUntilMs).toISOString(),
			};
		},
	};
}

const postWebhookRotateDoc: RouteDoc = {
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
