import type { Milliseconds, RotatedWebhook } from "@geoswap/protocol";
import { newWebhookSecret, sealSecret } from "../../webhook/webhook-secret.ts";
import { rotateWebhook } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { postWebhookRotateDoc } from "../openapi/endpoints/post-webhook-rotate.ts";
import { expectWebhookKeys, type WebhookParts } from "./post-webhook.ts";
import { fromWebhookId, noWebhook, toWebhookId } from "./webhook-id.ts";

/** How long the secret before signs too: a receiver's time to learn the new one. */
const overlapMs = 86_400_000;

/** POST /webhooks/{webhookId}/rotate: a new signing secret. */
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
			const previousUntilMs = nowMs() + overlapMs;
			if (!(await rotateWebhook(db, { id, accountId, sealedSecret, previousUntilMs }))) throw noWebhook();
			return {
				webhookId: toWebhookId(id),
				secret,
				previousUntil: new Date(previousUntilMs).toISOString(),
			};
		},
	};
}
