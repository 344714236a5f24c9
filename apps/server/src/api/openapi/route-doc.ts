import type { ErrorCode } from "@geoswap/protocol";
import type * as z from "zod";

/** The OpenAPI document's description of an endpoint, besides its method and path. */
export type RouteDoc = {
	/** The operation's name in generated clients, in camel case. */
	id: string;
	/** A few words, as in a table of contents. */
	summary: string;
	/** Markdown: what it does, when to call it, what to do next. */
	description: string;
	/** Descriptions of the parameters in the path. */
	params?: Record<string, string>;
	query?: z.ZodObject;
	body?: z.ZodObject;
	/** The body of a 200, and its type if that is not JSON. */
	response: z.ZodType | { contentType: string; description: string };
	/** True if a 200 may have a Retry-After header with the time to wait before the next call. */
	mayAskToWait?: boolean;
	/** The endpoint's errors, besides those of every endpoint of its kind. */
	errors: readonly ErrorCode[];
	/** Real examples, which a test parses with the schemas above. */
	example: {
		query?: Record<string, string>;
		params?: Record<string, string>;
		body?: unknown;
		response: unknown;
	};
};

/** The parts of a route that the document describes. */
export type DocumentedRoute = {
	method: "GET" | "POST" | "DELETE";
	path: string;
	/** The rate of the key that it counts against; undefined if it needs no key. */
	operation: string | undefined;
	/** True if it needs no key and has no limit. */
	isUnlimited?: boolean;
	doc: RouteDoc;
};
