import {
	SwapError,
	type WebhookResponse,
	webhookRequestSchema,
	webhookResponseSchema,
} from "@geoswap/protocol";
import type { SealKeys } from "../../config/seal-keys.ts";
import type { DatabasePool } from "../../database/database.ts";
import { newWebhookSecret, sealSecret } from "../../webhook/webhook-secret.ts";
import { webhookUrlProblem } from "../../webhook/webhook-url.ts";
import { insertWebhook } from "../../webhook/webhooks.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleWebhookId,
	exampleWebhookSecret,
	exampleWebhookUrl,
} from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { toWebhookId } from "./webhook-id.ts";

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
export function expectWebhookKeys(keys: SealKeys | undefined): SealKeys {
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
