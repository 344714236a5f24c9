import type { Duplex } from "node:stream";

/** Long enough to read an answer in. */
const lingerMs = 1_000;

/**
 * Ends a connection with these bytes. What still arrives is read and dropped, since closing on it could cost the caller the
 * answer; but only for a moment, or whoever never closes would keep the connection.
 */
export function endWithAnswer(socket: Duplex, answer: string): void {
	// Nobody else listens any more, and an error that nobody hears ends the process.
	socket.on("error", () => socket.destroy());
	socket.end(answer);
	socket.resume();
	const timer = setTimeout(() => socket.destroy(), lingerMs);
	socket.once("close", () => clearTimeout(timer));
}
