import {
	type Milliseconds,
	type RemovedWebhook,
	type RotatedWebhook,
	removedWebhookSchema,
	rotatedWebhookSchema,
	SwapError,
	type WebhookResponse,
	type WebhooksResponse,
	webhookRequestSchema,
	webhookResponseSchema,
	webhooksResponseSchema,
} from "@geoswap/protocol";
import * as z from "zod";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { DatabasePool } from "../../database/database.ts";
import { newWebhookSecret, sealSecret } from "../../webhook/webhook-secret.ts";
import { webhookUrlProblem } from "../../webhook/webhook-url.ts";
import {
	deleteWebhook as deleteRow,
	insertWebhook,
	listWebhooks,
	rotateWebhook,
	type WebhookRow,
} from "../../webhook/webhooks.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleWebhookId,
	exampleWebhookSecret,
	exampleWebhookUrl,
} from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** The maximum number of webhooks of an account. */
const most = 10;

export type WebhookParts = {
	db: DatabasePool;
	/** The keys that seal the webhooks' secrets. Undefined if the service has no webhooks. */
	webhookKeys: SealKeys | undefined;
	/** Returns a random UUID. */
	newId: () => string;
	/** True if receivers may be on this machine. */
	isDevnet: boolean;
};

/** POST /webhooks: registers an address to which events are sent from now on. */
export function postWebhook({ db, webhookKeys, newId, isDevnet }: WebhookParts): Route {
	return {
		method: "POST",
		path: "/webhooks",
		operation: "list",
		doc: postWebhookDoc,
		handle: async ({ body, account: { accountId } }): Promise<WebhookResponse> => {
			const { url } = parseRequest(webhookRequestSchema, body);
			const keys = expectWebhookKeys(webhookKeys);
			const problem = webhookUrlProblem(url, { isDevnet });
			if (problem !== undefined) throw wrongUrl(problem);
			const id = newId();
			const secret = newWebhookSecret();
			const sealedSecret = sealSecret(keys, { webhookId: id, secret });
			if (!(await insertWebhook(db, { id, accountId, url, sealedSecret, most }))) {
				throw wrongUrl(`cannot be added: the account has ${most} webhooks. Delete one first`);
			}
			return { webhookId: toWebhookId(id), url, secret };
		},
	};
}

/** Returns the keys. Throws NOT_FOUND if the operator has configured none. */
function expectWebhookKeys(keys: SealKeys | undefined): SealKeys {
	if (keys) return keys;
	throw new SwapError("NOT_FOUND", undefined, {
		message: "This service has no webhooks. Use GET /events instead.",
	});
}

function wrongUrl(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "url", message }] });
}

const postWebhookDoc: RouteDoc = {
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

/** GET /webhooks: the account's webhooks, with the state of their deliveries. */
export function getWebhooks({ db }: Pick<WebhookParts, "db">): Route {
	return {
		method: "GET",
		path: "/webhooks",
		operation: "list",
		doc: getWebhooksDoc,
		handle: async ({ account: { accountId } }): Promise<WebhooksResponse> => {
			return { webhooks: (await listWebhooks(db, accountId)).map(webhookAnswer) };
		},
	};
}

function webhookAnswer(row: WebhookRow): WebhooksResponse["webhooks"][number] {
	const { last_success_at, failing_since, last_error, last_error_at } = row;
	return {
		webhookId: toWebhookId(row.id),
		url: row.url,
		state: row.disabled_at ? "disabled" : failing_since ? "failing" : "active",
		createdAt: row.created_at.toISOString(),
		...(last_success_at && { lastSuccessAt: last_success_at.toISOString() }),
		...(failing_since && { failingSince: failing_since.toISOString() }),
		...(last_error !== null && { lastError: last_error }),
		...(last_error_at && { lastErrorAt: last_error_at.toISOString() }),
		waiting: row.waiting,
		givenUp: row.given_up,
	};
}

const getWebhooksDoc: RouteDoc = {
	id: "listWebhooks",
	summary: "List webhooks",
	description: `Returns the account's webhooks, and whether their receivers accept what is sent to them. A webhook that has failed for a whole
day, or whose receiver answers 410, is disabled, and what waited for it is dropped. Delete it and add it again, and read
\`GET /swaps\` for what was missed.`,
	response: webhooksResponseSchema,
	errors: [],
	example: {
		response: {
			webhooks: [
				{
					webhookId: exampleWebhookId,
					url: exampleWebhookUrl,
					state: "failing",
					createdAt: "2026-06-01T12:00:00.000Z",
					lastSuccessAt: "2026-06-01T12:10:00.000Z",
					failingSince: "2026-06-01T12:20:00.000Z",
					lastError: "the receiver answered 500",
					lastErrorAt: "2026-06-01T12:20:05.000Z",
					waiting: 2,
					givenUp: 0,
				},
			],
		},
	},
};

/** How long a replaced secret still signs, so that receivers have time to switch to a newer one. */
const overlapMs = 86_400_000;
/** Secrets of a webhook that sign at the same time. Each adds a signature to every event. */

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

/** Returns the id of a webhook in the form of the API. */
function toWebhookId(uuid: string): string {
	return `wh_${uuid.replaceAll("-", "")}`;
}

/** Returns the UUID in a `wh_…`. Throws NOT_FOUND if the text is anything else. */
function fromWebhookId(text: string): string {
	const parts = /^wh_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(text);
	if (!parts) throw noWebhook();
	return parts.slice(1).join("-");
}

function noWebhook(): SwapError {
	return new SwapError("NOT_FOUND", undefined, {
		message: "The account has no such webhook. GET /webhooks lists them.",
	});
}
