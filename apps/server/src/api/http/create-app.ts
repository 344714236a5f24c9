import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { fastifySSE as fastifySse } from "@fastify/sse";
import { type Milliseconds, SwapError } from "@geoswap/protocol";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import * as z from "zod";
import type { Log } from "../../telemetry/log.ts";
import type { RequestMetrics } from "../../telemetry/request-metrics.ts";
import type { Tracer } from "../../telemetry/tracer.ts";
import type { ApiKeys } from "../key/api-keys.ts";
import type { RequestLimits } from "../key/rate-limits.ts";
import { createAdmission, rateHeaders } from "./admission.ts";
import { answerWithStream } from "./answer-with-stream.ts";
import { endQuietConnections } from "./end-quiet-connections.ts";
import { errorAnswer, rawErrorAnswer } from "./error-answer.ts";
import { HandledRequest } from "./handled-request.ts";
import { createHolds } from "./holds.ts";
import { observeRequests } from "./observe-requests.ts";
import { parseBody, readBody } from "./parse-body.ts";
import { parseRequest } from "./parse-request.ts";
import type { EventStream, Route } from "./route.ts";
import { refuseUnstorable } from "./unstorable-text.ts";

const bodyLimitBytes = 32 * 1024;
/**
 * The timeout for headers. It includes this process's delay, so a busy process must not time out a request that
 * arrived long ago.
 */
const receiveTimeoutMs = 60_000;
/** How often a quiet stream sends a comment, because proxies end connections that were silent for 30 s. */
const defaultHeartbeatMs = 10_000;

/**
 * Creates the HTTP server for a list of routes. Checks run in a fixed order: route, key, rate, media type and size,
 * JSON. `close` stops accepting, makes held calls answer immediately, and waits for requests in flight. Once
 * `stopping` is aborted, each answer makes the client reconnect, so connections in use have ended by then. A
 * connection that was idle all along got no such answer and is closed. A request sent on it at that moment is lost,
 * and the caller must retry.
 */
export function createApp({
	routes,
	apiKeys,
	rateLimits,
	log,
	corsOrigins = [],
	trustedProxies = [],
	stopping,
	tracer,
	metrics,
	onKeyUsed,
	nowMs = Date.now,
	bodyTimeoutMs = 8_000,
	heartbeatMs = defaultHeartbeatMs,
	random = Math.random,
}: {
	routes: readonly Route[];
	apiKeys: ApiKeys;
	rateLimits: RequestLimits;
	log: Log;
	corsOrigins?: readonly string[];
	/** Addresses and networks that are trusted to name the caller's address. */
	trustedProxies?: readonly string[];
	/** Aborted when the process is stopping. */
	stopping?: AbortSignal;
	/** Absent if nothing is traced. */
	tracer?: Tracer | undefined;
	/** Absent if requests are not counted. */
	metrics?: RequestMetrics | undefined;
	/** Called for each request with a valid key, within its rate. */
	onKeyUsed?: ((keyId: string, address: string) => void) | undefined;
	nowMs?: () => Milliseconds;
	/** Milliseconds that a body may take to arrive after its headers. */
	bodyTimeoutMs?: Milliseconds;
	/** Milliseconds after which a stream that is silent sends a comment. */
	heartbeatMs?: Milliseconds;
	/** Returns a number from 0 to 1. */
	random?: () => number;
}): FastifyInstance {
	const app = fastify({
		// Fastify's logger would create a child and two listeners per request. Our log lines name the request.
		genReqId: newRequestId,
		trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
		bodyLimit: bodyLimitBytes,
		requestTimeout: receiveTimeoutMs,
		rewriteUrl: (request) => cleanUrl(request.url ?? "/"),
		// The request line is limited already. An overlong parameter matches nothing.
		routerOptions: { maxParamLength: 64 * 1024 },
		// Fastify's own 503 has another body than our errors, so requests that arrive while closing are served.
		return503OnClosing: false,
		http: { requireHostHeader: false, headersTimeout: receiveTimeoutMs },
		clientErrorHandler: (error, socket) => {
			if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
			endWithAnswer(socket, rawErrorAnswer(error, { requestId: randomUUID() }));
		},
	});
	app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
	// Fastify does not handle CONNECT. Without this listener such a connection is closed silently, which we do only
	// above the rate.
	app.server.on("connect", (request, socket) => {
		const { remoteAddress = "" } = request.socket;
		if (!rateLimits.takeForAddress(remoteAddress, "public").isAllowed) return void socket.destroy();
		const error = noRoute(routes, { url: cleanUrl(request.url ?? "/") });
		endWithAnswer(socket, rawErrorAnswer(error, { requestId: randomUUID() }));
	});

	app.removeAllContentTypeParsers();
	// The body is parsed later, because an error in a parser would close the connection.
	app.addContentTypeParser("application/json", async (_: FastifyRequest, payload: IncomingMessage) =>
		readBody(payload, { limitBytes: bodyLimitBytes, timeoutMs: bodyTimeoutMs }),
	);

	const holds = createHolds();
	const endConnections = endQuietConnections(app.server);
	const observer = observeRequests(app, { tracer, metrics, nowMs });
	const admission = createAdmission({ apiKeys, rateLimits, observer, onKeyUsed });
	const shared = { holds, observer, log };
	app.decorateRequest("account", undefined);
	app.decorateRequest("rate", undefined);
	app.addHook("onRequest", (request, reply, done) => {
		if (answerCors(request, reply, { origins: corsOrigins })) {
			admission.preflight(request);
			return void reply.send();
		}
		if (!request.is404) return done();
		admission.withoutKey(request);
		// Thrown here because a handler would run after the body was parsed.
		throw noRoute(routes, request);
	});
	app.addHook("onSend", (request, reply, _payload, done) => {
		// The headers are set this late, because a held call would otherwise keep them in memory while it waits.
		setOwnHeaders(request, reply);
		done();
	});

	function setOwnHeaders(request: FastifyRequest, reply: FastifyReply): void {
		reply.header("x-request-id", request.id);
		if (request.rate) reply.headers(rateHeaders(request.rate));
		if (stopping?.aborted) reply.header("connection", "close");
	}

	/** Returns the checks that a route's requests must pass before their body is read. */
	function admit(route: Route): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
		if (route.operation === undefined) {
			return async (request) => {
				if (!route.isUnlimited) admission.withoutKey(request, route.limitedAs);
			};
		}
		const withKey = admission.withKey(route.operation);
		return (request, reply) => {
			// An empty body has no type, so the error is that the body is empty and not its declared type.
			if (hasNoBody(request)) delete request.raw.headers["content-type"];
			return withKey(request, reply);
		};
	}

	for (const route of routes) {
		if (route.isStream) continue;
		app.route({
			method: route.method,
			url: route.path,
			onRequest: admit(route),
			handler: (request, reply) => {
				refuseUnstorableUrl(request);
				if (takesNoQuery(route)) parseRequest(noQuerySchema, request.query);
				const body = route.method === "POST" ? parseBody(request.body) : undefined;
				const answer = route.handle(new HandledRequest(request, reply, { body, shared }));
				return hasOwnHeaders(route) ? answer.then((value) => withHeaders(route, reply, value)) : answer;
			},
		});
	}

	// A separate scope, because the plugin handles only routes that are added after it.
	app.register(async (scope) => {
		await scope.register(fastifySse, { heartbeatInterval: heartbeatMs });
		for (const route of routes) {
			if (!route.isStream) continue;
			scope.route({
				method: route.method,
				url: route.path,
				// No content negotiation, because these answers have no other form.
				sse: "manual",
				exposeHeadRoute: false,
				onRequest: admit(route),
				handler: async (request, reply) => {
					refuseUnstorableUrl(request);
					parseRequest(noQuerySchema, request.query);
					const handled = new HandledRequest(request, reply, { body: undefined, shared });
					const stream = (await route.handle(handled)) as EventStream;
					setOwnHeaders(request, reply);
					reply.header("cache-control", "no-store, no-transform");
					answerWithStream(reply, stream, { random });
				},
			});
		}
	});

	const pages = new Map(routes.flatMap((route) => (route.errorPage ? [[route.path, route]] : [])));
	app.setErrorHandler((error, request, reply) => {
		const { status, headers, body } = errorAnswer(error, { requestId: request.id });
		observer.refused(request, body);
		const { id: requestId, method, routeOptions } = request;
		const context = { requestId, method, path: routeOptions.url, code: body.code };
		if (status >= 500) log.error({ ...context, err: error }, "request failed");
		else log.debug(context, "request refused");
		reply.code(status).headers(headers);
		const page = pages.get(routeOptions.url ?? "");
		if (!page?.errorPage || !request.headers.accept?.includes("text/html")) return reply.send(body);
		return withHeaders(page, reply, page.errorPage(body));
	});
	app.addHook("preClose", async () => {
		holds.endAll();
		endConnections();
	});
	return app;
}

/**
 * Returns a UUID as a flat string. `randomUUID` returns a rope of a dozen parts, which a held call would keep in
 * memory.
 */
function newRequestId(): string {
	return Buffer.from(randomUUID(), "latin1").toString("latin1");
}

function hasNoBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** Throws if a parameter of the path or the query could not be stored. `parseBody` does the same for bodies. */
function refuseUnstorableUrl({ params, query }: FastifyRequest): void {
	refuseUnstorable(params as object);
	refuseUnstorable(query as object);
}

const noQuerySchema = z.strictObject({});

/**
 * Returns true if any query is refused. Pages are exempt, since others add parameters to links to them, such as a
 * campaign's. All other routes that take a query check it themselves.
 */
function takesNoQuery({ method, doc, contentType = "" }: Route): boolean {
	return method === "GET" && doc.query === undefined && !contentType.startsWith("text/html");
}

function hasOwnHeaders({ contentType, headers, headersFor }: Route): boolean {
	return contentType !== undefined || headers !== undefined || headersFor !== undefined;
}

function withHeaders(
	{ contentType, headers, headersFor }: Route,
	reply: FastifyReply,
	body: unknown,
): unknown {
	if (contentType) reply.type(contentType);
	if (headers) reply.headers(headers);
	if (headersFor) reply.headers(headersFor(body));
	return body;
}

/** Milliseconds that a caller has to read the answer. */
const lingerMs = 1_000;

/**
 * Ends a connection with these bytes. Data that still arrives is read and dropped for a moment, since closing earlier
 * could cost the caller the answer. After that the connection is destroyed, so that a caller who never closes does
 * not keep it.
 */
function endWithAnswer(socket: Duplex, answer: string): void {
	// No other listener is left, and an unhandled error event would end the process.
	socket.on("error", () => socket.destroy());
	socket.end(answer);
	socket.resume();
	const timer = setTimeout(() => socket.destroy(), lingerMs);
	socket.once("close", () => clearTimeout(timer));
}

/** Returns the error for a request that matches no route, because the path or only the method is wrong. */
function noRoute(routes: readonly Route[], { url }: { url: string }): SwapError {
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

/**
 * Sets the CORS headers that let web pages of the configured origins read the answer. Returns true if the request is
 * such a page's preflight, which needs only these headers. The caller then sends the reply without a body, and no
 * route runs.
 */
function answerCors(
	request: FastifyRequest,
	reply: FastifyReply,
	{ origins }: { origins: readonly string[] },
): boolean {
	const { origin } = request.headers;
	if (origins.length === 0 || origin === undefined) return false;
	reply.header("vary", "origin");
	if (!origins.includes(origin)) return false;
	reply.header("access-control-allow-origin", origin);
	reply.header(
		"access-control-expose-headers",
		"x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset",
	);
	if (request.method !== "OPTIONS" || !request.headers["access-control-request-method"]) return false;
	reply.headers({
		"access-control-allow-methods": "GET, POST, DELETE",
		"access-control-allow-headers": "content-type, x-api-key, last-event-id",
		"access-control-max-age": "600",
	});
	return true;
}

/**
 * Returns the URL to route: without doubled and trailing slashes, and without the host that callers behind a proxy
 * include. A path that cannot be decoded is taken literally, so it is answered like any other unknown path.
 */
function cleanUrl(url: string): string {
	if (cleanAlready.test(url)) return url;
	const target = url.replace(/^https?:\/\/[^/?]*/i, "");
	const end = target.indexOf("?");
	const path = `/${end === -1 ? target : target.slice(0, end)}`;
	const search = end === -1 ? "" : target.slice(end);
	const clean = path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
	return (isDecodable(clean) ? clean : clean.replaceAll("%", "%25")) + search;
}

/** Matches a URL with nothing to decode and no redundant slash, as almost all are. */
const cleanAlready = /^(?:\/[\w.-]+)+(?:\?|$)/;

function isDecodable(path: string): boolean {
	try {
		decodeURIComponent(path);
		return true;
	} catch {
		return false;
	}
}
