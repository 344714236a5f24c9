import { randomInt } from "node:crypto";
import { connect, createServer } from "node:net";

/**
 * Below what systems give to outgoing connections: a service that is down for a moment would lose its port to one.
 */
const anyPort = { from: 20_000, to: 32_000 };

/** The ports from a base on, in order, each checked; without a base, free ones anywhere. */
export function portSource(base?: number): () => Promise<number> {
	const given = new Set<number>();
	return async () => {
		if (base !== undefined) {
			const port = base + given.size;
			given.add(port);
			if (!(await isFree(port))) {
				throw new Error(
					`port ${port} is taken: stop what listens there, or choose others with \`pnpm start --port ${base + 100}\``,
				);
			}
			return port;
		}
		for (;;) {
			const port = randomInt(anyPort.from, anyPort.to);
			if (given.has(port) || !(await isFree(port))) continue;
			given.add(port);
			return port;
		}
	};
}

function isFree(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const server = createServer();
		server.once("error", () => resolve(false));
		server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
	});
}

export function isListening(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1");
		socket.once("connect", () => {
			socket.destroy();
			resolve(true);
		});
		socket.once("error", () => resolve(false));
	});
}
