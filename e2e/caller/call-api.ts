import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { keepRefusal } from "../environment/refusals.ts";

export type ApiAnswer = {
	status: number;
	headers: IncomingHttpHeaders;
	/** Undefined if there is none. */
	body: Record<string, unknown> | undefined;
};

export type ApiCall = {
	method?: string;
	/** Text is sent as it is, everything else as JSON. With a body, the call is a POST. */
	body?: unknown;
	/** Replaces the usual headers; undefined removes one. */
	headers?: Record<string, string | undefined>;
	/** The local address to call from. */
	localAddress?: string;
};

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a call that may be wrong in any way. Nothing is checked or corrected before it is sent. */
export async function callApi(
	{ baseUrl, apiKey }: { baseUrl: string; apiKey?: string },
	path: string,
	{ body, method = body === undefined ? "GET" : "POST", headers: own = {}, localAddress }: ApiCall = {},
): Promise<ApiAnswer> {
	const { hostname, port } = new URL(baseUrl);
	const headers = { "x-api-key": apiKey, ...(body !== undefined && { "content-type": "application/json" }) };
	const sent = request({
		hostname,
		port,
		path,
		method,
		agent,
		...(localAddress !== undefined && { localAddress }),
		headers: Object.fromEntries(
			Object.entries({ ...headers, ...own }).filter(([, value]) => value !== undefined),
		),
	});
	const answered = new Promise<ApiAnswer>((resolve, reject) => {
		sent.on("error", reject);
		sent.on("response", (response) => {
			text(response).then((answer) => {
				const { statusCode: status = 0, headers } = response;
				if (status !== 200) keepRefusal(baseUrl, answer);
				resolve({ status, headers, body: answer === "" ? undefined : JSON.parse(answer) });
			}, reject);
		});
	});
	sent.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
	return answered;
}
