import type { RemovedWebhook, RotatedWebhook, WebhookResponse, WebhooksResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

type Options = { signal?: AbortSignal | undefined };

/**
 * Has every event of the account's swaps sent to an address, from now on. The answer has the secret that signs them, which
 * is not shown again. If the call fails without an answer, the webhook may exist: see `listWebhooks`.
 */
export function addWebhook(
	client: Client,
	{ url }: { url: string },
	{ signal }: Options = {},
): Promise<WebhookResponse> {
	return request(client, { path: "/webhooks", body: { url }, signal });
}

/** Returns the account's webhooks, and whether their receivers accept what is sent to them. */
export function listWebhooks(client: Client, { signal }: Options = {}): Promise<WebhooksResponse> {
	return request(client, { path: "/webhooks", signal });
}

/** Removes a webhook. Nothing more is sent to it, not even events that wait. */
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
