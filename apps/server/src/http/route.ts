import type { Account, Operation } from "../api-key/api-keys.ts";
import type { Log } from "../log.ts";

/** A request, without the framework. */
export type PublicRequest = {
	/** A JSON object, for a POST; undefined for a GET. */
	body: unknown;
	query: Record<string, unknown>;
	params: Record<string, string>;
	requestId: string;
	log: Log;
	/** Aborted when the caller is gone or the process stops: answer with what is known. */
	signal: AbortSignal;
};
export type RouteRequest = PublicRequest & { account: Account };

/** One endpoint. What `handle` returns is the body of a 200; every other answer is thrown as a SwapError. */
export type Route = {
	method: "GET" | "POST";
	/** Segments that begin with a colon are parameters. */
	path: string;
	/** Where it is set the body is text of that type instead of JSON. */
	contentType?: string;
} & (
	| {
			/** Which of the key's rates it counts against. */
			operation: Operation;
			handle: (request: RouteRequest) => Promise<unknown>;
	  }
	| {
			/** Needs no key. */
			operation: undefined;
			handle: (request: PublicRequest) => Promise<unknown>;
	  }
);
