import type { ErrorBody } from "@geoswap/protocol";
import { toJson } from "./answer.ts";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";

/** Timeout of a call. It is longer than the time for which the service holds a status call. */
const timeoutMs = 30_000;

type Call = {
	path: string;
	/** By default a call with a body is a POST, and one without is a GET. */
	method?: "DELETE";
	query?: Record<string, string | number | undefined>;
	body?: object;
	signal?: AbortSignal | undefined;
};

/** Makes one call to the service. The response is not verified here. Callers verify what they sign. */
export async function request<Answer>(client: Client, call: Call): Promise<Answer> {
	return (await requestWithPause<Answer>(client, call)).answer;
}

/** Like `request`, with the pause that the service requests after the call. */
export async function requestWithPause<Answer>(
	client: Client,
	{ path, method, query = {}, body, signal }: Call,
): Promise<{ answer: Answer; retryAfterMs: number | undefined }> {
	const url = new URL(client.baseUrl + path);
	for (const [name, value] of Object.entries(query)) {
		if (value !== undefined) url.searchParams.set(name, String(value));
	}
	// A browser's `fetch` throws if it is called as a method.
	const { fetch } = client;
	const timeout = AbortSignal.timeout(timeoutMs);
	let response: Response;
	let text: string;
	try {
		response = await fetch(url, {
			method: method ?? (body === undefined ? "GET" : "POST"),
			headers: {
				"x-api-key": client.apiKey,
				...(body === undefined ? {} : { "content-type": "application/json" }),
			},
			...(body === undefined ? {} : { body: toJson(body) }),
			signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
			// A redirect would send the key to another server.
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
	return { answer: answer as Answer, retryAfterMs: retryAfterMsOf(response) };
}

/** Returns the error of an unsuccessful response. */
export function errorOf(client: Client, response: Response, answer: object | undefined): GeoswapError {
	const { status, headers } = response;
	const body = answer as { [Field in keyof ErrorBody]?: unknown } | undefined;
	const context = {
		status,
		requestId: textOf(body?.requestId) ?? textOf(headers.get("x-request-id")),
		retryAfterMs: retryAfterMsOf(response),
	};
	const code = textOf(body?.code) as ErrorBody["code"] | undefined;
	const next = textOf(body?.next) as ErrorBody["next"] | undefined;
	if (code === undefined || next === undefined) {
		// A proxy before the service responds in its own form.
		const mayPass = status === 429 || status >= 500;
		return new GeoswapError(
			`${client.baseUrl} answered ${status}, but not as Geoswap does. ${mayPass ? "Send the same request again" : "Check the address"}.`,
			{
				...context,
				docs: docsUrl(client),
				code: "UNEXPECTED_RESPONSE",
				next: mayPass ? "retry" : "contact_operator",
				retryable: mayPass,
			},
		);
	}
	const details = body?.details;
	return new GeoswapError(textOf(body?.message) ?? code, {
		...context,
		docs: docsUrl(client, code),
		// The response is not verified, so neither are the code and the form of its details.
		code: code as never,
		next,
		retryable: body?.retryable === true,
		details: isObject(details) ? details : undefined,
	});
}

function retryAfterMsOf({ headers }: Response): number | undefined {
	// An empty header counts as none, not as zero.
	const seconds = Number(headers.get("retry-after")?.trim() || Number.NaN);
	return seconds >= 0 ? seconds * 1000 : undefined;
}

/** Returns undefined for anything but a string, because readers of an error rely on its texts being strings. */
function textOf(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

function parseObject(text: string): object | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
