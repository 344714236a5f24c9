import type { RemovedWebhook, RotatedWebhook, WebhookResponse, WebhooksResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

type Options = { signal?: AbortSignal | undefined };

/**
 * Adds a webhook. From now on, the service sends every event of the account's swaps to this address. The response has
 * the secret that signs them, which is not shown again. If the call fails without a response, the webhook may exist.
 * See `listWebhooks`.
 */
export function addWebhook(
	client: Client,
	{ url }: { url: string },
	{ signal }: Options = {},
): Promise<WebhookResponse> {
	return request(client, { path: "/webhooks", body: { url }, signal });
}

/** Returns the account's webhooks, and whether their receivers accept the events. */
export function listWebhooks(client: Client, { signal }: Options = {}): Promise<WebhooksResponse> {
	return request(client, { path: "/webhooks", signal });
}

/** Removes a webhook. Nothing more is sent to it, not even queued events. */
export function removeWebhook(
	client: Client,
	webhookId: string,
	{ signal }: Options = {},
): Promise<RemovedWebhook> {
	return request(client, { path: pathOf(webhookId), method: "DELETE", signal });
}

/** Returns a new secret of a webhook. For a day, events are signed with the old one too. */
export function rotateWebhook(
	client: Client,
	webhookId: string,
	{ signal }: Options = {},
): Promise<RotatedWebhook> {
	return request(client, { path: `${pathOf(webhookId)}/rotate`, body: {}, signal });
}

function pathOf(webhookId: string): string {
	return `/webhooks/${encodeURIComponent(webhookId)}`;
}
