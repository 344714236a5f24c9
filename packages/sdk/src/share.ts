import type { RevokedShares, ShareResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { docsUrl } from "./docs-url.ts";
import { GeoswapError } from "./geoswap-error.ts";
import { request } from "./request.ts";

/**
 * Creates a link to a page that shows the swap, live and without a key, until it is revoked. Each call makes another
 * link.
 */
export async function shareSwap(
	client: Client,
	swapId: string,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<ShareResponse> {
	const shared = await request<ShareResponse>(client, { path: pathOf(swapId), body: {}, signal });
	// The address is opened in browsers, which also accept other schemes than http.
	if (/^https?:$/.test(URL.canParse(shared.url) ? new URL(shared.url).protocol : "")) return shared;
	throw new GeoswapError(`${client.baseUrl} did not answer with the address of a page. Check the address.`, {
		code: "UNEXPECTED_RESPONSE",
		next: "contact_operator",
		retryable: false,
		docs: docsUrl(client),
	});
}

/** Revokes all links to the swap's page. */
export function revokeShares(
	client: Client,
	swapId: string,
	{ signal }: { signal?: AbortSignal | undefined } = {},
): Promise<RevokedShares> {
	return request(client, { path: pathOf(swapId), method: "DELETE", signal });
}

function pathOf(swapId: string): string {
	return `/swaps/${encodeURIComponent(swapId)}/share`;
}
