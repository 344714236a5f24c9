import { connect } from "node:net";

export type RawAnswer = { status: number; headers: Record<string, string>; body: string; tookMs: number };

type Read = Omit<RawAnswer, "tookMs"> & {
	length: number;
	/** True if it has begun and has no end, so nothing follows it. */
	isStream?: boolean;
};

/**
 * Sends bytes over a new connection and reads `answerCount` answers. Throws if fewer come. A stream counts as an answer
 * once its headers are there, and is then closed.
 */
export function exchange(
	{ host, port, localAddress }: { host: string; port: number; localAddress: string },
	bytes: Buffer,
	{
		answerCount,
		isHead,
		isEnded,
		timeoutMs,
	}: { answerCount: number; isHead: boolean; isEnded: boolean; timeoutMs: number },
): Promise<RawAnswer[]> {
	return new Promise((resolve, reject) => {
		const startedAt = performance.now();
		const answers: RawAnswer[] = [];
		let received = Buffer.alloc(0);
		let isStreaming = false;
		const socket = connect({ host, port, localAddress, allowHalfOpen: true });
		const fail = (why: string) => {
			clearTimeout(timer);
			socket.destroy();
			reject(new Error(`${why} after ${answers.length} answers and ${JSON.stringify(text(received))}`));
		};
		const timer = setTimeout(() => fail(`nothing for ${timeoutMs} ms`), timeoutMs);
		socket.on("connect", () => {
			socket.write(bytes);
			if (isEnded) socket.end();
		});
		socket.on("data", (data) => {
			received = Buffer.concat([received, data]);
			try {
				for (let read = readAnswer(received, isHead); read; read = readAnswer(received, isHead)) {
					const { length, isStream = false, ...answer } = read;
					received = received.subarray(length);
					isStreaming = isStream;
					// Interim answers do not count.
					if (answer.status >= 200) answers.push({ ...answer, tookMs: performance.now() - startedAt });
				}
			} catch (error) {
				return fail(String(error));
			}
			if (answers.length < answerCount && !isStreaming) return;
			clearTimeout(timer);
			socket.destroy();
			resolve(answers);
		});
		// A refused sender may find the connection closed before it has sent everything; the answers received until then
		// count.
		socket.on("error", (error) => fail(error.message));
		socket.on("end", () => fail("closed"));
	});
}

function text(bytes: Buffer): string {
	return bytes.toString("latin1").slice(0, 500);
}

/** Returns the first answer in these bytes, once all of it has arrived. */
function readAnswer(bytes: Buffer, isHead: boolean): Read | undefined {
	const headEnd = bytes.indexOf("\r\n\r\n");
	if (headEnd === -1) return undefined;
	const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
	const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(statusLine)?.[1]);
	if (Number.isNaN(status)) throw new Error(`no answer of HTTP: ${statusLine}`);
	const headers = Object.fromEntries(
		lines.map((line) => {
			const colon = line.indexOf(":");
			return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
		}),
	);
	const start = headEnd + 4;
	if (isHead || status < 200) return { status, headers, body: "", length: start };
	if (headers["content-type"]?.startsWith("text/event-stream")) {
		return { status, headers, body: "", length: bytes.length, isStream: true };
	}
	const length = Number(headers["content-length"] ?? Number.NaN);
	if (Number.isNaN(length)) throw new Error(`an answer without its length: ${statusLine}`);
	if (bytes.length < start + length) return undefined;
	return { status, headers, body: bytes.toString("utf8", start, start + length), length: start + length };
}
