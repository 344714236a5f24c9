/** Where the service is, and who asks. */
export type Client = {
	/** Without a slash at its end. */
	baseUrl: string;
	apiKey: string;
	fetch: typeof fetch;
};

/** A client for the actions of this package. It holds no connection and needs no closing. */
export function createClient({
	baseUrl,
	apiKey,
	fetch = globalThis.fetch,
}: {
	baseUrl: string;
	apiKey: string;
	/** Another implementation of `fetch`, such as one with a proxy. */
	fetch?: typeof globalThis.fetch;
}): Client {
	if (!/^https?:$/.test(new URL(baseUrl).protocol)) throw new TypeError(`${baseUrl} is not an http address`);
	if (apiKey === "") throw new TypeError("apiKey is empty");
	return { baseUrl: baseUrl.replace(/\/+$/, ""), apiKey, fetch };
}
