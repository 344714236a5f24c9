import type { ErrorCode } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";

/** Where the service explains itself, or one of its errors. */
export function docsUrl({ baseUrl }: Client, code?: ErrorCode): string {
	return code === undefined ? `${baseUrl}/docs` : `${baseUrl}/docs/errors/${encodeURIComponent(code)}`;
}
