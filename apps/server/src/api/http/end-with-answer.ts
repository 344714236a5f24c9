import type { Duplex } from "node:stream";

/** Milliseconds that a caller has to read the answer. */
const lingerMs = 1_000;

/**
 * Ends a connection with these bytes. Data that still arrives is read and dropped, since closing on it could cost the
 * caller the answer; but only for a moment, or a caller who never closes would keep the connection.
 */
export function endWithAnswer(socket: Duplex, answer: string): void {
	// No other listener is left, and an unhandled error event would end the process.
	socket.on("error", () => socket.destroy());
	socket.end(answer);
	socket.resume();
	const timer = setTimeout(() => socket.destroy(), lingerMs);
	socket.once("close", () => clearTimeout(timer));
}
