import type { AuthorizationBody, BuildResponse } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";
import { request } from "./request.ts";

/** Turns a quote into an op to sign. A wallet that is not delegated yet attaches its authorization. */
export function buildOp(
	client: Client,
	{
		geoQuoteToken,
		authorization,
		signal,
	}: {
		geoQuoteToken: string;
		authorization?: AuthorizationBody | undefined;
		signal?: AbortSignal | undefined;
	},
): Promise<BuildResponse> {
	return request(client, { path: "/swap/build-geo-op", body: { geoQuoteToken, authorization }, signal });
}
