import type { ErrorBody } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";

/** Longer than a status call is held. */
const timeoutMs = 30_000;

/** One call to the service. Its answer is taken at its word here: what matters is verified before a signature. */
export async function request<Answer>(
	client: Client,
	{
		path,
		query = {},
		body,
		signal,
	}: {
		path: string;
		query?: Record<string, string | number>;
		/** Makes it a POST. */
		body?: object;
		signal?: AbortSignal | undefined;
	},
): Promise<Answer> {
	const url = new URL(client.baseUrl + path);
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
	// A browser's fetch refuses to be called as a method.
	const { fetch } = client;
	const timeout = AbortSignal.timeout(timeoutMs);
	let response: Response;
	let text: string;
	try {
		response = await fetch(url, {
			method: body === undefined ? "GET" : "POST",
			headers: {
				"x-api-key": client.apiKey,
				...(body === undefined ? {} : { "content-type": "application/json" }),
			},
			...(body === undefined ? {} : { body: toJson(body) }),
			signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
			// A redirect would carry the key to wherever it leads.
			redirect: "error",
		});
		text = await response.text();
	} catch (cause) {
		signal?.throwIfAborted();
		throw new GeoswapError(
			`${client.baseUrl} does not answer. Send the same request again; if it persists, check the address.`,
			{ code: "UNREACHABLE", next: "retry", retryable: true, docs: docsUrl(client), cause },
		);
	}
	const answer = parseObject(text);
	if (!response.ok || answer === undefined) throw errorOf(client, response, answer);
	return answer as Answer;
}

function errorOf(client: Client, response: Response, answer: object | undefined): GeoswapError {
	const { status, headers } = response;
	const body = answer as Partial<ErrorBody> | undefined;
	const retryAfterSeconds = Number(headers.get("retry-after") ?? Number.NaN);
	const context = {
		status,
		requestId: body?.requestId ?? headers.get("x-request-id") ?? undefined,
		retryAfterMs: retryAfterSeconds >= 0 ? retryAfterSeconds * 1000 : undefined,
	};
	if (body?.code === undefined || body.next === undefined) {
		// A proxy in between answers in its own words.
		const mayPass = status === 429 || status >= 500;
		return new GeoswapError(
			`${client.baseUrl} answered ${status} in a form that is not Geoswap's. ${mayPass ? "Send the same request again" : "Check the address"}.`,
			{
				...context,
				docs: docsUrl(client),
				code: "UNEXPECTED_RESPONSE",
				next: mayPass ? "retry" : "contact_operator",
				retryable: mayPass,
			},
		);
	}
	return new GeoswapError(body.message ?? body.code, {
		...context,
		docs: docsUrl(client, body.code),
		code: body.code,
		next: body.next,
		retryable: body.retryable === true,
		details: body.details,
	});
}

/** Accounts sign with bigints here and there, such as `v`, and JSON has none. */
function toJson(body: object): string {
	return JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

function parseObject(text: string): object | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}
