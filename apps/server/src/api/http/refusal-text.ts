import { type ErrorBody, SwapError } from "@geoswap/protocol";
import type { RateState } from "../key/rate-limits.ts";
import { errorAnswer } from "./error-answer.ts";

/** The answer to a request above its limit, and what it is made of. */
export type Refusal = { text: string; body: ErrorBody };

type Template = { before: string; after: string; body: ErrorBody };

/** Not in any answer. */
const placeholder = "00000000-request-id";
const templates = new Map<number, Template>();

/**
 * The body of a 429, made once for each number of seconds, apart from the request's id: refusing a flood must cost next to
 * nothing, and of this most is making an error and writing it as JSON.
 */
export function refusalText({ resetSeconds }: RateState, { requestId }: { requestId: string }): Refusal {
	const { before, after, body } = templates.get(resetSeconds) ?? addTemplate(resetSeconds);
	return { text: before + requestId + after, body };
}

function addTemplate(resetSeconds: number): Template {
	const { body } = errorAnswer(aboveRate(resetSeconds), { requestId: placeholder });
	const [before = "", after = ""] = JSON.stringify(body).split(placeholder);
	const template = { before, after, body };
	templates.set(resetSeconds, template);
	return template;
}

/** What a caller above its rate is told. */
export function aboveRate(retryAfterSeconds: number): SwapError {
	return new SwapError("RATE_LIMITED", { reason: "rate", retryAfterSeconds });
}
