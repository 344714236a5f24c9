import { timingSafeEqual } from "node:crypto";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { unstorableTexts } from "../api/http/unstorable-text.ts";
import { describeError } from "../telemetry/log.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { formTokenOf, readSession, type SessionLimits } from "./login/sessions.ts";
import { errorPage, type PageFrame, renderPage, renderPlain } from "./page/page-frame.ts";
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from "./route/console-route.ts";
import { consoleRoutes } from "./route/console-routes.ts";

const bodyLimitBytes = 64 * 1024;
const cookieName = "geoswap_console";

/** Allows scripts, styles and requests only from this host, nothing inline, and no frame around the page. */
const securityHeaders = {
	"content-security-policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	"x-content-type-options": "nosniff",
	// With no-referrer browsers would send forms without their origin, which is checked.
	"referrer-policy": "same-origin",
	"cross-origin-opener-policy": "same-origin",
	"cross-origin-resource-policy": "same-origin",
	"cache-control": "no-store",
};

/**
 * Creates the HTTP server of the console. Every request passes the same checks: its host, for a POST its origin, the
 * session, and for a POST of a session the form's token. Only routes that are marked public need no session.
 */
export function createConsole(parts: ConsoleParts): FastifyInstance {
	const { pool, config, publicUrl, nowMs, log } = parts;
	const { host } = new URL(publicUrl);
	const isSecure = publicUrl.startsWith("https:");
	const limits: SessionLimits = {
		idleMs: config.console.idleMinutes * 60_000,
		maxMs: config.console.sessionHours * 3_600_000,
	};
	const { trustedProxies } = config.console;
	const app = fastify({
		bodyLimit: bodyLimitBytes,
		trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
	});
	app.addContentTypeParser(
		"application/x-www-form-urlencoded",
		{ parseAs: "string" },
		async (_: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
	);
	app.addHook("onRequest", async (_, reply) => {
		reply.headers(securityHeaders);
		if (isSecure) reply.header("strict-transport-security", "max-age=31536000");
	});
	app.setNotFoundHandler((_, reply) => plain(reply, 404, "There is no such page."));
	app.setErrorHandler((error, _, reply) => {
		const { statusCode = 500, code } = error as { statusCode?: number; code?: string };
		if (statusCode < 500) return plain(reply, statusCode, "The request could not be read.");
		log.error({ err: describeError(error) }, "a page of the console failed");
		const isSlow = code === "57014";
		const problem = isSlow
			? "The database took too long. Narrow the search, or try again."
			: "The page could not be made. If the database does not answer, check that it runs; the console's log has the error.";
		return plain(reply, 503, problem);
	});
	for (const route of consoleRoutes(parts, limits)) {
		app.route({
			method: route.method,
			url: route.path,
			handler: (request, reply) => serve(route, request, reply),
		});
	}
	return app;

	async function serve(
		route: ConsoleRoute,
		request: FastifyRequest,
		reply: FastifyReply,
	): Promise<FastifyReply> {
		// Supervisors call from inside under any host name, and get no more than an empty answer.
		const refusal = route.path === "/health" ? undefined : refusalOf(request);
		if (refusal) return plain(reply, refusal.status, refusal.why);
		const isPost = request.method === "POST";
		const asked: ConsoleRequest = {
			params: textsOf(request.params),
			query: textsOf(request.query),
			body: isPost ? membersOf(request.body) : {},
			address: request.ip,
		};
		if ([asked.params, asked.query, asked.body].some((fields) => unstorableTexts(fields).length > 0)) {
			return plain(
				reply,
				400,
				"A field contains the character U+0000 or half of a surrogate pair. Remove it.",
			);
		}
		if (route.access === "public") return send(reply, await route.handle(asked));
		const sessionToken = cookieOf(request.headers.cookie);
		const isRefresh = request.headers["x-refresh"] !== undefined;
		const operator =
			sessionToken && (await readSession(pool, { token: sessionToken, isRefresh, limits, nowMs: nowMs() }));
		if (!operator || !sessionToken) {
			if (!isPost && !isRefresh) return send(reply, { kind: "redirect", to: "/login" });
			return plain(reply, 401, "You are not logged in any more. Log in and repeat it.");
		}
		const formToken = formTokenOf(sessionToken);
		if (isPost && !isEqual(asked.body.token, formToken)) {
			return plain(reply, 403, "The form is not of this session. Open the page again and repeat it.");
		}
		const answered = await route.handle({ ...asked, operator, sessionToken, formToken });
		return send(reply, answered, { operator: operator.name, formToken });
	}

	/** Returns why a request is refused, regardless of its sender. */
	function refusalOf({ method, headers }: FastifyRequest): { status: number; why: string } | undefined {
		// Refuses another site's page whose host name resolves to this address.
		if (headers.host !== host) return { status: 421, why: `Open the console at ${publicUrl}` };
		if (method === "POST" && headers.origin !== publicUrl) {
			return { status: 403, why: "The form was sent by another site. Open the page again and repeat it." };
		}
		return undefined;
	}

	function send(reply: FastifyReply, answered: ConsoleAnswer, frame?: PageFrame): FastifyReply {
		if ("session" in answered && answered.session) {
			reply.header("set-cookie", cookieFor(answered.session.token));
		}
		switch (answered.kind) {
			case "redirect":
				return reply.redirect(answered.to, 303);
			case "json":
				return reply.status(answered.status ?? 200).send(answered.body);
			case "plain":
				return html(reply, answered.status ?? 200, renderPlain(answered));
			case "file":
				return reply
					.header("cache-control", "private, max-age=31536000, immutable")
					.type(answered.type)
					.send(answered.content);
			case "page":
				if (!frame) throw new Error("a page with a menu is for operators who are logged in");
				return html(reply, answered.page.status ?? 200, renderPage(answered.page, frame));
		}
	}

	function cookieFor(token: string | null): string {
		const secure = isSecure ? "; Secure" : "";
		const age = token === null ? 0 : Math.floor(limits.maxMs / 1_000);
		return `${cookieName}=${token ?? ""}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
	}

	function plain(reply: FastifyReply, status: number, why: string): FastifyReply {
		return html(reply, status, renderPlain(errorPage(why)));
	}
}

function html(reply: FastifyReply, status: number, text: string): FastifyReply {
	return reply.status(status).type("text/html; charset=utf-8").send(text);
}

/** Returns the members that are texts. A parameter that is given twice is not a text and is dropped. */
function textsOf(value: unknown): Record<string, string> {
	return Object.fromEntries(
		Object.entries(membersOf(value)).filter(
			(entry): entry is [string, string] => typeof entry[1] === "string",
		),
	);
}

function membersOf(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Returns the session's token in a Cookie header. */
function cookieOf(header: string | undefined): string | undefined {
	const found = header?.split(/; */).find((pair) => pair.startsWith(`${cookieName}=`));
	return found?.slice(cookieName.length + 1) || undefined;
}

/** Compares in constant time for texts of equal length. */
function isEqual(given: unknown, expected: string): boolean {
	if (typeof given !== "string" || given.length !== expected.length) return false;
	return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
