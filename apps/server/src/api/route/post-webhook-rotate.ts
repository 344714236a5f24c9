import { type Milliseconds, type RotatedWebhook, SwapError } from "@geoswap/protocol";
import { newWebhookSecret, sealSecret } from "../../webhook/webhook-secret.ts";
import { rotateWebhook } from "../../webhook/webhooks.ts";
import type { Route } from "../http/route.ts";
import { postWebhookRotateDoc } from "../openapi/endpoints/post-webhook-rotate.ts";
import { expectWebhookKeys, type WebhookParts } from "./post-webhook.ts";
import { fromWebhookId, noWebhook, toWebhookId } from "./webhook-id.ts";

/** How long a secret that was replaced still signs: a receiver's time to learn a newer one. */
const overlapMs = 86_400_000;
/** Secrets of a webhook that sign at the same time. Each adds a signature to every event. */
const most = 10;

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
