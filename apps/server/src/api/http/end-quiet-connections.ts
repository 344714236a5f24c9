import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Milliseconds within which a client that has just connected must send a request. */
const silentMs = 2_000;
/**
 * Milliseconds after which all connections are closed. A request that was not received or answered by then never will
 * be, and its connection would keep the process alive.
 */
const unfinishedMs = 15_000;

/**
 * Watches the connections of a server, and returns a function to call when it closes. Node ends connections that are
 * idle between two requests, but waits for those that never sent a byte, which balancers and browsers open in advance.
 */
export function endQuietConnections(server: Server): () => void {
	const connections = new Set<Socket>();
	function forget(this: Socket): void {
		connections.delete(this);
	}
	server.on("connection", (socket) => {
		connections.add(socket);
		socket.on("close", forget);
	});
	return () => {
		const timers = [
			setTimeout(() => {
				for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
			}, silentMs),
			setTimeout(() => server.closeAllConnections(), unfinishedMs),
		];
		server.once("close", () => {
			for (const timer of timers) clearTimeout(timer);
		});
	};
}
