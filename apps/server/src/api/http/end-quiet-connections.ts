import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Whoever connected just before has this long to say what for. */
const silentMs = 2_000;
/** A request that has not arrived whole or been answered by then never will: its connection would keep the process. */
const unfinishedMs = 15_000;

/**
 * Watches the connections of a server, and returns what to call when it closes. Node ends those that are idle between two
 * requests, but waits for one that never sent a byte, as balancers and browsers open them in advance.
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
