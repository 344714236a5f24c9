import type { ErrorCode } from "@geoswap/protocol";
import type * as z from "zod";

/** What the interface's document says of an endpoint, beside its method and path. */
export type RouteDoc = {
	/** The operation's name in generated clients, in camel case. */
	id: string;
	/** A few words, as in a table of contents. */
	summary: string;
	/** Markdown: what it does, when to call it, what to do next. */
	description: string;
	/** What each parameter in the path is. */
	params?: Record<string, string>;
	query?: z.ZodObject;
	body?: z.ZodObject;
	/** The body of a 200, and its type where that is not JSON. */
	response: z.ZodType | { contentType: string; description: string };
	/** Whether a 200 may say in Retry-After how long to wait before the next call. */
	mayAskToWait?: boolean;
	/** Its own errors, beside those that every endpoint of its kind has. */
	errors: readonly ErrorCode[];
	/** Real ones: a test parses them by the schemas above. */
	example: {
		query?: Record<string, string>;
		params?: Record<string, string>;
		body?: unknown;
		response: unknown;
	};
};

/** What the document is made of. */
export type DocumentedRoute = {
	method: "GET" | "POST";
	path: string;
	/** Which of the key's rates it counts against, or undefined where it needs no key. */
	operation: string | undefined;
	/** Without a key, and without a limit. */
	isUnlimited?: boolean;
	doc: RouteDoc;
};
