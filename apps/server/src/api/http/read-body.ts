import type { IncomingMessage } from "node:http";
import { type Milliseconds, SwapError } from "@geoswap/protocol";

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
