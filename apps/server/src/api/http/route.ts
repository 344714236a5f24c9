import type { Log } from "../../telemetry/log.ts";
import type { Span } from "../../telemetry/tracer.ts";
import type { Account, Operation } from "../key/api-keys.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** A request, without the framework. */
export type PublicRequest = {
	/** A JSON object, for a POST; undefined for a GET. */
	body: unknown;
	query: Record<string, unknown>;
	params: Record<string, string>;
	requestId: string;
	log: Log;
	/** Calls `tell` when the caller is gone or the process stops, at once where that was before: answer with what is known. */
	onGone(tell: () => void): void;
	/** Where the request is traced. */
	span?: Span | undefined;
};
export type RouteRequest = PublicRequest & { account: Account };

/** One endpoint. What `handle` returns is the body of a 200; every other answer is thrown as a SwapError. */
export type Route = {
	method: "GET" | "POST";
	/** Segments that begin with a colon are parameters. */
	path: string;
	/** Where it is set the body is text of that type instead of JSON. */
	contentType?: string;
	/** Further headers of every 200. */
	headers?: Record<string, string>;
	/** Further headers of a 200, which depend on its body. */
	headersFor?: (body: unknown) => Record<string, string>;
	/** For the interface's document. */
	doc: RouteDoc;
} & (
	| {
			/** Which of the key's rates it counts against. */
			operation: Operation;
			handle: (request: RouteRequest) => Promise<unknown>;
	  }
	| {
			/** Needs no key. */
			operation: undefined;
			/** A balancer asks it: refused above a limit, it would take the process for dead. */
			isUnlimited?: boolean;
			handle: (request: PublicRequest) => Promise<unknown>;
	  }
);
