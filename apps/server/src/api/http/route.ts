import type { ErrorBody } from "@geoswap/protocol";
import type { Log } from "../../telemetry/log.ts";
import type { Span } from "../../telemetry/tracer.ts";
import type { Account, Operation } from "../key/api-keys.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** A request, independent of the framework. */
export type PublicRequest = {
	/** A JSON object, for a POST; undefined for a GET. */
	body: unknown;
	query: Record<string, unknown>;
	params: Record<string, string>;
	requestId: string;
	log: Log;
	/**
	 * Calls `tell` when the caller leaves or the process stops, or immediately if that has happened. The route then
	 * answers with its current state.
	 */
	onGone(tell: () => void): void;
	/** Set if the request is traced. */
	span?: Span | undefined;
	/** The scheme and host by which the caller reached the service. Undefined if the request named no host. */
	origin?: string | undefined;
	/** The last event that the client of a stream has received, according to its header. */
	lastEventId?: string | undefined;
};
export type RouteRequest = PublicRequest & { account: Account };

/** The caller of a stream of server-sent events. */
export type EventSink = {
	/** Sends text of the stream. Returns false if the client is gone, or has so much unread that it must reconnect. */
	send(text: string): boolean;
	/** Resolves once the client has read what was sent, or is gone. */
	drained(): Promise<void>;
	end(): void;
};

/** The body of a stream. It is called once, when the request can no longer be refused. */
export type EventStream = (sink: EventSink) => void;

/** One endpoint. `handle` returns the body of a 200; every other answer is thrown as a SwapError. */
export type Route = {
	method: "GET" | "POST" | "DELETE";
	/** Segments that begin with a colon are parameters. */
	path: string;
	/** If set, the body is text of this type instead of JSON. */
	contentType?: string;
	/** True if `handle` returns an `EventStream`. */
	isStream?: boolean;
	/** Additional headers of every 200. */
	headers?: Record<string, string>;
	/** Additional headers of a 200 that depend on its body. */
	headersFor?: (body: unknown) => Record<string, string>;
	/** Creates the page that a browser gets instead of an error's JSON. It is sent with `headers`. */
	errorPage?: (error: ErrorBody) => string;
	/** The endpoint's part of the OpenAPI document. */
	doc: RouteDoc;
} & (
	| {
			/** The operation whose rate limit for the key counts the request. */
			operation: Operation;
			handle: (request: RouteRequest) => Promise<unknown>;
	  }
	| {
			/** Undefined if no key is needed. */
			operation: undefined;
			/**
			 * True if a load balancer calls the endpoint. Above a limit, it would consider the process dead because of the
			 * refusals.
			 */
			isUnlimited?: boolean;
			/** The limit by address that counts the request. */
			limitedAs?: "public" | "share";
			handle: (request: PublicRequest) => Promise<unknown>;
	  }
);
