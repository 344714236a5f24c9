import { GeoswapError } from "@geoswap/sdk";
import {
	addWebhook,
	listWebhooks,
	removeWebhook,
	rotateWebhook,
	type WebhookResponse,
	type WebhooksResponse,
} from "@geoswap/sdk/events";
import { CliError } from "../cli-error.ts";
import { type Call, openContext } from "../context.ts";
import { exitCode } from "../exit-code.ts";
import type { Line } from "../output.ts";

/** Adds a webhook, to which the service sends the events of the account's swaps. The secret is printed once. */
export async function addWebhookCommand(call: Call, { url }: { url: string }): Promise<void> {
	const { client, output, signal } = await openContext(call);
	let webhook: WebhookResponse;
	try {
		webhook = await addWebhook(client, { url }, { signal });
	} catch (error) {
		throw error instanceof GeoswapError && error.code === "UNREACHABLE" ? mayBeAdded(error) : error;
	}
	await output.result(webhook, [
		["webhook", webhook.webhookId],
		["url", webhook.url],
		["secret", webhook.secret],
		...keepSecret,
	]);
}

export async function listWebhooksCommand(call: Call): Promise<void> {
	const { client, output, signal } = await openContext(call);
	const answer = await listWebhooks(client, { signal });
	const lines = answer.webhooks.flatMap(webhookLines);
	await output.result(answer, lines.length > 0 ? lines : ["no webhooks"]);
}

/** Removes a webhook. Its queued events are dropped. */
export async function removeWebhookCommand(call: Call, { webhookId }: { webhookId: string }): Promise<void> {
	const { client, output, signal } = await openContext(call);
	const removed = await removeWebhook(client, webhookId, { signal });
	await output.result(removed, [["removed", removed.webhookId]]);
}

/** Prints a new secret of a webhook. Each earlier secret signs for a day after it was replaced. */
export async function rotateWebhookCommand(call: Call, { webhookId }: { webhookId: string }): Promise<void> {
	const { client, output, signal } = await openContext(call);
	const rotated = await rotateWebhook(client, webhookId, { signal });
	await output.result(rotated, [
		["webhook", rotated.webhookId],
		["secret", rotated.secret],
		["", `until ${rotated.previousUntil}, events are signed with the secret that was replaced, too`],
		...keepSecret,
	]);
}

const keepSecret: Line[] = [["", "the secret is not shown again; verify events with it"]];

function webhookLines(webhook: WebhooksResponse["webhooks"][number]): Line[] {
	const { webhookId, url, state, waiting, givenUp, lastError, lastErrorAt } = webhook;
	return [
		["webhook", webhookId],
		["", url],
		["", `${state}; ${waiting} events wait, ${givenUp} were given up`],
		...(lastError === undefined ? [] : [["", `${lastErrorAt}: ${lastError}`] satisfies Line]),
	];
}

function mayBeAdded({ message }: GeoswapError): CliError {
	return new CliError(
		`${message} The webhook may have been added. Look for it with geoswap webhooks list, and remove it before you add it again, because its secret is lost.`,
		{ code: "WEBHOOK_UNKNOWN", exit: exitCode.refused, next: "retry", retryable: true, section: "webhooks" },
	);
}
