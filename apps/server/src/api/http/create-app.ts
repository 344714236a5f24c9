import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import * as z from "zod";
import type { Log } from "../../telemetry/log.ts";
import type { RequestMetrics } from "../../telemetry/request-metrics.ts";
import type { Tracer } from "../../telemetry/tracer.ts";
import type { ApiKeys } from "../key/api-keys.ts";
import type { RequestLimits } from "../key/rate-limits.ts";
import { createAdmission, rateHeaders } from "./admission.ts";
import { cleanUrl } from "./clean-url.ts";
import { answerCors } from "./cors.ts";
import { endQuietConnections } from "./end-quiet-connections.ts";
import { endWithAnswer } from "./end-with-answer.ts";
import { errorAnswer, rawErrorAnswer } from "./error-answer.ts";
import { HandledRequest } from "./handled-request.ts";
import { createHolds } from "./holds.ts";
import { noRoute } from "./no-route.ts";
import { observeRequests } from "./observe-requests.ts";
import { parseBody } from "./parse-body.ts";
import { parseRequest } from "./parse-request.ts";
import { readBody } from "./read-body.ts";
import type { Route } from "./route.ts";

const bodyLimitBytes = 32 * 1024;
/** For the headers. Our own delay counts as well: a process that is busy must not call a request late that has long arrived. */
const receiveTimeoutMs = 60_000;

/**
 * The HTTP server of a list of routes. Its checks come in a fixed order: route, key, rate, media type and size, JSON.
 * `close` stops accepting, lets those who hold a call answer now, and waits for what is under way. From `stopping` on each
 * answer tells the caller to connect anew, so that by then those that were used have ended. One that was idle all along
 * heard nothing and is closed: a request that is sent on it in that moment is lost, and the caller must send it again.
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
	nowMs = Date.now,
	bodyTimeoutMs = 8_000,
}: {
	routes: readonly Route[];
	apiKeys: ApiKeys;
	rateLimits: RequestLimits;
	log: Log;
	corsOrigins?: readonly string[];
	/** Addresses and networks that are believed who calls. */
	trustedProxies?: readonly string[];
	/** Aborted once the process is told to stop. */
	stopping?: AbortSignal;
	/** Absent where nothing is traced. */
	tracer?: Tracer | undefined;
	/** Absent where nobody counts. */
	metrics?: RequestMetrics | undefined;
	nowMs?: () => number;
	/** How long a body may take to arrive once its headers have. */
	bodyTimeoutMs?: number;
}): FastifyInstance {
	const app = fastify({
		// Its logger makes a child and two listeners for each request. What we log of one names it.
		genReqId: newRequestId,
		trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
		bodyLimit: bodyLimitBytes,
		requestTimeout: receiveTimeoutMs,
		rewriteUrl: (request) => cleanUrl(request.url ?? "/"),
		// A request's line is limited already; a long parameter is just one that names nothing.
		routerOptions: { maxParamLength: 64 * 1024 },
		// Its own answers have another body than ours: what still arrives while closing is served.
		return503OnClosing: false,
		http: { requireHostHeader: false, headersTimeout: receiveTimeoutMs },
		clientErrorHandler: (error, socket) => {
			if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
			endWithAnswer(socket, rawErrorAnswer(error, { requestId: randomUUID() }));
		},
	});
	app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
	// No request for the framework, and without this one closed in silence, as it is for whoever sends too many of them.
	app.server.on("connect", (request, socket) => {
		const { remoteAddress = "" } = request.socket;
		if (!rateLimits.takeForAddress(remoteAddress, "public").isAllowed) return void socket.destroy();
		const error = noRoute(routes, { url: cleanUrl(request.url ?? "/") });
		endWithAnswer(socket, rawErrorAnswer(error, { requestId: randomUUID() }));
	});

	app.removeAllContentTypeParsers();
	// Parsed later: an error of a parser closes the connection.
	app.addContentTypeParser("application/json", async (_: FastifyRequest, payload: IncomingMessage) =>
		readBody(payload, { limitBytes: bodyLimitBytes, timeoutMs: bodyTimeoutMs }),
	);

	const holds = createHolds();
	const endConnections = endQuietConnections(app.server);
	const observer = observeRequests(app, { tracer, metrics, nowMs });
	const admission = createAdmission({ apiKeys, rateLimits, observer });
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
		// Here and not in a handler: that would run after the body was parsed.
		throw noRoute(routes, request);
	});
	app.addHook("onSend", (request, reply, _payload, done) => {
		// Not before: a held call would keep them all the while.
		reply.header("x-request-id", request.id);
		if (request.rate) reply.headers(rateHeaders(request.rate));
		if (stopping?.aborted) reply.header("connection", "close");
		done();
	});

	/** What a route's requests must pass before their body is looked at. */
	function admit(route: Route): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
		if (route.operation === undefined) {
			return async (request) => {
				if (!route.isUnlimited) admission.withoutKey(request);
			};
		}
		const withKey = admission.withKey(route.operation);
		return (request, reply) => {
			// What is empty is of no type: that is what is wrong with it, not the type it names.
			if (hasNoBody(request)) delete request.raw.headers["content-type"];
			return withKey(request, reply);
		};
	}

	for (const route of routes) {
		app.route({
			method: route.method,
			url: route.path,
			onRequest: admit(route),
			handler: (request, reply) => {
				if (takesNoQuery(route)) parseRequest(noQuerySchema, request.query);
				const body = route.method === "POST" ? parseBody(request.body) : undefined;
				const answer = route.handle(new HandledRequest(request, reply, { body, shared }));
				return hasOwnHeaders(route) ? answer.then((value) => withHeaders(route, reply, value)) : answer;
			},
		});
	}

	app.setErrorHandler((error, request, reply) => {
		const { status, headers, body } = errorAnswer(error, { requestId: request.id });
		observer.refused(request, body);
		const { id: requestId, method, routeOptions } = request;
		const context = { requestId, method, path: routeOptions.url, code: body.code };
		if (status >= 500) log.error({ ...context, err: error }, "request failed");
		else log.debug(context, "request refused");
		return reply.code(status).headers(headers).send(body);
	});
	app.addHook("preClose", async () => {
		holds.endAll();
		endConnections();
	});
	return app;
}

/** `randomUUID` returns a rope of a dozen strings, which a held call would keep. This makes one string of them. */
function newRequestId(): string {
	return Buffer.from(randomUUID(), "latin1").toString("latin1");
}

function hasNoBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

const noQuerySchema = z.strictObject({});

/** Links to pages come with names that others add, such as a campaign's. All else that takes a query checks it itself. */
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
