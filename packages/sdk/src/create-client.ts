/** The service's address, and the caller's API key. */
export type Client = {
	/** The service's address, without a trailing slash. */
	baseUrl: string;
	apiKey: string;
	fetch: typeof fetch;
};

/** Returns a client for the actions of this package. It holds no connection and needs no closing. */
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
