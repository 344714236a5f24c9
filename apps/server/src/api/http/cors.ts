import type { FastifyReply, FastifyRequest } from "fastify";

/**
 * Sets the CORS headers that let web pages of the configured origins read the answer. Returns true if the request is a
 * preflight of such a page, which asks only for these headers: the caller then sends the reply without a body, and no
 * route runs.
 */
export function answerCors(
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
