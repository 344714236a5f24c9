import { SwapError } from "@geoswap/protocol";
import type { Route } from "./route.ts";

/** Returns the error for a request that no route takes: the path is wrong, or only the method. */
export function noRoute(routes: readonly Route[], { url }: { url: string }): SwapError {
	const segments = url.replace(/\?.*$/, "").split("/");
	const allow = routes
		.filter(({ path }) => {
			const pattern = path.split("/");
			return (
				pattern.length === segments.length &&
				pattern.every((part, i) => (part.startsWith(":") ? segments[i] !== "" : part === segments[i]))
			);
		})
		.flatMap(({ method, isStream }) => (method === "GET" && !isStream ? ["GET", "HEAD"] : [method]));
	return allow.length > 0
		? new SwapError("METHOD_NOT_ALLOWED", { allow })
		: new SwapError("NOT_FOUND", undefined);
}
