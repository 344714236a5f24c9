import type { ErrorCode } from "@geoswap/protocol";
import type { Client } from "./create-client.ts";

/** Returns the address of the service's documentation, or of one of its errors. */
export function docsUrl({ baseUrl }: Client, code?: ErrorCode): string {
	return code === undefined ? `${baseUrl}/docs` : `${baseUrl}/docs/errors/${encodeURIComponent(code)}`;
}
