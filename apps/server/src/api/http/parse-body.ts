import type { IncomingMessage } from "node:http";
import { type Milliseconds, SwapError } from "@geoswap/protocol";
import { shortened } from "./parse-request.ts";
import { refuseUnstorable } from "./unstorable-text.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the JSON object in a body's bytes. Throws INVALID_REQUEST for anything else, including an empty body. */
export function parseBody(bytes: unknown): Record<string, unknown> {
	if (!(bytes instanceof Uint8Array) || bytes.length === 0)
		throw invalid("the body is empty; send a JSON object");
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
			issues: [{ path: shortened(duplicate), message: "appears twice in one object; send it once" }],
		});
	}
	// Valid JSON in UTF-8 can contain such a character only as an escape.
	if (text.includes("\\u")) refuseUnstorable(value);
	return value as Record<string, unknown>;
}

function invalid(message: string): SwapError {
	return new SwapError("INVALID_REQUEST", { issues: [{ path: "", message }] });
}

/**
 * Matches a string, or a character that opens, closes or separates. Everything else in JSON is between two of these.
 */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/gs;

/**
 * Returns a key that occurs twice in one object of a JSON text, even if the spellings differ by escapes. `JSON.parse`
 * silently keeps the last value, while a proxy or a log may have read the first. `value` is the parsed text.
 */
function findDuplicateKey(json: string, value: object): string | undefined {
	// Each key in the text has a colon. If there are no more colons than keys in the value, no key was dropped.
	if (json.split(":").length - 1 === countKeys(value)) return undefined;
	/** The keys of each open object; undefined for an array. */
	const open: (Set<string> | undefined)[] = [];
	let before = "";
	for (const [token] of json.matchAll(tokens)) {
		const keys = open.at(-1);
		if (token === "{") open.push(new Set());
		else if (token === "[") open.push(undefined);
		else if (token === "}" || token === "]") open.pop();
		else if (token !== "," && keys && (before === "{" || before === ",")) {
			const key = JSON.parse(token) as string;
			if (keys.has(key)) return key;
			keys.add(key);
		}
		before = token;
	}
	return undefined;
}

/** Counts without recursion, because a small body can nest deeper than the stack allows. */
function countKeys(value: object): number {
	let count = 0;
	const open = [value];
	for (let next = open.pop(); next; next = open.pop()) {
		const items: unknown[] = Object.values(next);
		if (!Array.isArray(next)) count += items.length;
		for (const item of items) if (typeof item === "object" && item !== null) open.push(item);
	}
	return count;
}

/**
 * Reads the bytes of a request's body. Throws BODY_TOO_LARGE above the limit, REQUEST_TIMEOUT if it has not arrived
 * completely in time, and UNSUPPORTED_MEDIA_TYPE if it is compressed, because a few bytes could unpack to more than
 * the limit.
 */
export function readBody(
	request: IncomingMessage,
	{ limitBytes, timeoutMs }: { limitBytes: number; timeoutMs: Milliseconds },
): Promise<Buffer> {
	const { "content-encoding": encoding = "identity", "content-length": length = 0 } = request.headers;
	if (encoding.trim().toLowerCase() !== "identity") {
		throw new SwapError("UNSUPPORTED_MEDIA_TYPE", undefined, {
			message: "The body must not be compressed. Send it as plain JSON, without a content-encoding header.",
		});
	}
	if (Number(length) > limitBytes) throw new SwapError("BODY_TOO_LARGE", undefined);
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let receivedBytes = 0;
		// Parts of the body may have arrived while this process was busy. They are read before the request times out.
		const timer = setTimeout(() => {
			setImmediate(() => end(new SwapError("REQUEST_TIMEOUT", undefined)));
		}, timeoutMs);
		request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);

		function onData(chunk: Buffer): void {
			receivedBytes += chunk.length;
			if (receivedBytes > limitBytes) end(new SwapError("BODY_TOO_LARGE", undefined));
			else chunks.push(chunk);
		}

		function onEnd(): void {
			end();
		}

		function onGone(): void {
			const issue = { path: "", message: "the body did not arrive completely" };
			end(new SwapError("INVALID_REQUEST", { issues: [issue] }));
		}

		function end(error?: Error): void {
			clearTimeout(timer);
			// The error listener stays, because a later error event without a listener would end the process.
			request.off("data", onData).off("end", onEnd).off("close", onGone);
			if (error) reject(error);
			else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, receivedBytes));
		}
	});
}
