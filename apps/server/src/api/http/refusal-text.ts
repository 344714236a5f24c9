import { type ErrorBody, type Seconds, SwapError } from "@geoswap/protocol";
import type { RateState } from "../key/rate-limits.ts";
import { errorAnswer } from "./error-answer.ts";

/** The answer to a request above its limit, as text and as an object. */
export type Refusal = { text: string; body: ErrorBody };

type Template = { before: string; after: string; body: ErrorBody };

/** A text that occurs in no answer. */
const placeholder = "00000000-request-id";
const templates = new Map<number, Template>();

/**
 * Returns the body of a 429. All but the request id is created once per number of seconds. Refusing a flood must cost
 * next to nothing, and most of the cost is creating an error and writing it as JSON.
 */
export function refusalText({ resetSeconds }: RateState, { requestId }: { requestId: string }): Refusal {
	const { before, after, body } = templates.get(resetSeconds) ?? addTemplate(resetSeconds);
	return { text: before + requestId + after, body };
}

function addTemplate(resetSeconds: Seconds): Template {
	const { body } = errorAnswer(aboveRate(resetSeconds), { requestId: placeholder });
	const [before = "", after = ""] = JSON.stringify(body).split(placeholder);
	const template = { before, after, body };
	templates.set(resetSeconds, template);
	return template;
}

/** Returns the error for a caller above its rate. */
export function aboveRate(retryAfterSeconds: Seconds): SwapError {
	return new SwapError("RATE_LIMITED", { reason: "rate", retryAfterSeconds });
}
