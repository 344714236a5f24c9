import { randomInt } from "node:crypto";
import { connect, createServer, type Server } from "node:net";

/**
 * Below the range that systems use for outgoing connections, which could take the port of a service that is briefly
 * down.
 */
const anyPort = { from: 20_000, to: 32_000 };
const blockSize = 40;

/**
 * Returns the ports from a base on, in order, each checked; without a base, free ports that no other source returns.
 */
export function portSource(base?: number): () => Promise<number> {
	return base === undefined ? freePorts() : portsFrom(base);
}

function portsFrom(base: number): () => Promise<number> {
	let next = base;
	return async () => {
		const port = next++;
		if (!(await isFree(port))) {
			throw new Error(
				`port ${port} is taken; stop what listens there, or choose others with \`pnpm start --port ${base + 100}\``,
			);
		}
		return port;
	};
}

/**
 * Returns free ports from blocks that this source has claimed. Any process can take a port between its choice and its
 * use, and many stacks start concurrently in independent processes. A source owns a block as long as it holds the
 * block's first port.
 */
function freePorts(): () => Promise<number> {
	let left: number[] = [];
	return async () => {
		for (;;) {
			const port = left.shift();
			if (port === undefined) left = await claimBlock();
			else if (await isFree(port)) return port;
		}
	};
}

async function claimBlock(): Promise<number[]> {
	for (;;) {
		const first = anyPort.from + blockSize * randomInt((anyPort.to - anyPort.from) / blockSize);
		const claim = await listen(first);
		if (!claim) continue;
		// The claim lasts until this process ends, and does not keep it alive.
		claim.unref();
		return Array.from({ length: blockSize - 1 }, (_, i) => first + 1 + i);
	}
}

async function isFree(port: number): Promise<boolean> {
	const server = await listen(port);
	if (!server) return false;
	await new Promise((resolve) => server.close(resolve));
	return true;
}

function listen(port: number): Promise<Server | undefined> {
	return new Promise((resolve) => {
		const server = createServer();
		server.once("error", () => resolve(undefined));
		server.listen(port, "127.0.0.1", () => resolve(server));
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
