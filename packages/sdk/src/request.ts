import type { ErrorBody } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";

/** Longer than a status call is held. */
const timeoutMs = 30_000;

type Call = {
	path: string;
	query?: Record<string, string | number>;
	/** Makes it a POST. */
	body?: object;
	signal?: AbortSignal | undefined;
};

/** One call to the service. Its answer is taken at its word here: what matters is verified before a signature. */
export async function request<Answer>(client: Client, call: Call): Promise<Answer> {
	return (await requestWithPause<Answer>(client, call)).answer;
}

/** The same, with how long the service asks to be left alone after it. */
export async function requestWithPause<Answer>(
	client: Client,
	{ path, query = {}, body, signal }: Call,
): Promise<{ answer: Answer; retryAfterMs: number | undefined }> {
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
	return { answer: answer as Answer, retryAfterMs: retryAfterMsOf(response) };
}

function errorOf(client: Client, response: Response, answer: object | undefined): GeoswapError {
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
	const details = body?.details;
	return new GeoswapError(textOf(body?.message) ?? code, {
		...context,
		docs: docsUrl(client, code),
		code,
		next,
		retryable: body?.retryable === true,
		details: isObject(details) ? details : undefined,
	});
}

function retryAfterMsOf({ headers }: Response): number | undefined {
	// An empty one is none, and not zero.
	const seconds = Number(headers.get("retry-after")?.trim() || Number.NaN);
	return seconds >= 0 ? seconds * 1000 : undefined;
}

/** Who reads an error takes its texts for texts: whatever else came is left out. */
function textOf(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

/** Accounts sign with bigints here and there, such as `v`, and JSON has none. */
function toJson(body: object): string {
	return JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

function parseObject(text: string): object | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
