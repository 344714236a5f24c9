import { randomUUID } from "node:crypto";
import {
	type FastifyBaseLogger,
	type FastifyInstance,
	type FastifyReply,
	type FastifyRequest,
	fastify,
	LogController,
} from "fastify";
import type { ApiKeys } from "../api-key/api-keys.ts";
import type { RateLimits } from "../api-key/rate-limits.ts";
import type { Log } from "../log.ts";
import type { RequestMetrics } from "../telemetry/request-metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import { createAdmission } from "./admission.ts";
import { cleanUrl } from "./clean-url.ts";
import { answerCors } from "./cors.ts";
import { endQuietConnections } from "./end-quiet-connections.ts";
import { endWithAnswer } from "./end-with-answer.ts";
import { errorAnswer, rawErrorAnswer } from "./error-answer.ts";
import { createHolds } from "./holds.ts";
import { noRoute } from "./no-route.ts";
import { observeRequests } from "./observe-requests.ts";
import { parseBody } from "./parse-body.ts";
import type { Route } from "./route.ts";

const bodyLimitBytes = 32 * 1024;
/** Our own delay counts as well: a process that is busy must not call a request late that has long arrived. */
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
}: {
	routes: readonly Route[];
	apiKeys: ApiKeys;
	rateLimits: RateLimits;
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
}): FastifyInstance {
	const app = fastify({
		loggerInstance: log as FastifyBaseLogger,
		logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
		genReqId: () => randomUUID(),
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
	app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_, body, done) => done(null, body));

	const holds = createHolds();
	const endConnections = endQuietConnections(app.server);
	const observer = observeRequests(app, { tracer, metrics, nowMs });
	const admission = createAdmission({ apiKeys, rateLimits, observer });
	app.decorateRequest("account", undefined);
	app.addHook("onRequest", async (request, reply) => {
		reply.header("x-request-id", request.id);
		if (answerCors(request, reply, { origins: corsOrigins })) {
			admission.preflight(request, reply);
			return reply.send();
		}
		if (!request.is404) return;
		admission.withoutKey(request, reply);
		// Here and not in a handler: that would run after the body was parsed.
		throw noRoute(routes, request);
	});
	app.addHook("onSend", (_request, reply, _payload, done) => {
		if (stopping?.aborted) reply.header("connection", "close");
		done();
	});

	/** What a route's requests must pass before their body is looked at. */
	function admit(route: Route): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
		if (route.operation === undefined) {
			return async (request, reply) => {
				if (!route.isUnlimited) admission.withoutKey(request, reply);
			};
		}
		const withKey = admission.withKey(route.operation);
		return async (request, reply) => {
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
			handler: async (request, reply) => {
				let signal: AbortSignal | undefined;
				const asked = {
					body: route.method === "POST" ? parseBody(request.body) : undefined,
					query: request.query as Record<string, unknown>,
					params: request.params as Record<string, string>,
					requestId: request.id,
					log: request.log as Log,
					span: observer.spanOf(request),
					// Made where it is asked for: most requests are not held.
					get signal() {
						signal ??= holds.signalOf(reply.raw);
						return signal;
					},
				};
				const body =
					route.operation === undefined
						? await route.handle(asked)
						: await route.handle(Object.assign(asked, { account: request.account ?? unreachable() }));
				if (route.contentType) reply.type(route.contentType);
				if (route.headers) reply.headers(route.headers);
				return reply.send(body);
			},
		});
	}

	app.setErrorHandler((error, request, reply) => {
		const { status, headers, body } = errorAnswer(error, { requestId: request.id });
		observer.refused(request, body);
		const context = { method: request.method, path: request.routeOptions.url, code: body.code };
		if (status >= 500) request.log.error({ ...context, err: error }, "request failed");
		else request.log.debug(context, "request refused");
		return reply.code(status).headers(headers).send(body);
	});
	app.addHook("preClose", async () => {
		holds.endAll();
		endConnections();
	});
	return app;
}

function hasNoBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

function unreachable(): never {
	throw new Error("a route that needs a key was reached without one");
}
