import { SwapError } from "@geoswap/protocol";
import { findDuplicateKey } from "./find-duplicate-key.ts";
import { shortened } from "./parse-request.ts";
import { refuseUnstorable } from "./unstorable-text.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the JSON object in a body's bytes. Throws INVALID_REQUEST for anything else, including an empty body. */
export function parseBody(bytes: unknown): Record<string, unknown> {
	if (!(bytes instanceof Uint8Array) || bytes.length === 0)
		throw invalid("the body is empty: send a JSON object");
	let text: string;
	let value: unknown;
	try {
		text = decoder.decode(bytes);
		value = JSON.parse(text);
	} catch {
		throw invalid("the body is not JSON");
	}
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw invalid("the body must be a JSON object");
	}
	const duplicate = findDuplicateKey(text, value);
	if (duplicate !== undefined) {
		throw new SwapError("INVALID_REQUEST", {
			issues: [{ path: shortened(duplicate), message: "appears twice in one object: send it once" }],
		});
	}
	// Bytes that are JSON in UTF-8 have such a character only as an escape.
	if (text.includes("\\u")) refuseUnstorable(value);
	return value as Record<string, unknown>;
}

function invalid(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "", message }] });
}
