import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";

export type ChainProcess = {
	/** The address on which it listens, which is 127.0.0.1 and its port. */
	address: string;
	pid: number;
	/** Settles when the process is gone, for any reason. */
	exited: Promise<void>;
	stop: () => Promise<void>;
};

/**
 * The shell becomes the chain (`exec`, same process) and leaves a reader behind, which ends the chain when the pipe on
 * its descriptor 3 closes. Only this process holds the pipe's other end, which the system closes however this process
 * ends, kill -9 included.
 */
const withWatchdog = '(cat; kill "$$") <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

const running = new Set<ChildProcess>();
process.once("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** Starts a chain in its own process, and waits until it reports where it listens. */
export async function startChainProcess({
	name,
	port,
	command: [program, ...args],
}: {
	/** The name in error messages. */
	name: string;
	/** 0 picks a free port. */
	port: number;
	command: [program: string, ...args: string[]];
}): Promise<ChainProcess> {
	if (port !== 0) await expectFreePort(port);
	const child = spawn("/bin/sh", ["-c", withWatchdog, program, ...args], {
		stdio: ["ignore", "pipe", "pipe", "pipe"],
		// Detached from the terminal, because this process handles Ctrl-C and stops its children in its own order.
		detached: true,
	});
	running.add(child);
	const exited = new Promise<void>((resolve) => {
		child.once("exit", () => {
			running.delete(child);
			// Closing the pipe lets the reader end as well.
			child.stdio[3]?.destroy();
			resolve();
		});
	});
	return {
		address: await listeningAddress(child, name),
		pid: child.pid ?? 0,
		exited,
		stop: async () => {
			child.kill("SIGTERM");
			const kill = setTimeout(() => child.kill("SIGKILL"), 2_000);
			await exited;
			clearTimeout(kill);
		},
	};
}

function listeningAddress(child: ChildProcess, name: string): Promise<string> {
	return new Promise((resolve, reject) => {
		let output = "";
		const read = (chunk: Buffer) => {
			output += chunk;
			const address = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
			if (!address) return;
			child.off("exit", fail);
			// The output is still read, because a full pipe would stop the process.
			for (const stream of [child.stdout, child.stderr]) stream?.off("data", read).resume();
			resolve(address);
		};
		const fail = () => reject(new Error(`${name} did not start: ${output.trim().split("\n").at(-1)}`));
		child.stdout?.on("data", read);
		child.stderr?.on("data", read);
		child.once("exit", fail);
		child.once("error", reject);
	});
}

/** Throws if the port is taken, before anything is started on it. A chain's own error does not explain what to do. */
export function expectFreePort(port: number): Promise<void> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", (error: NodeJS.ErrnoException) => {
			reject(error.code === "EADDRINUSE" ? new PortTakenError(port) : error);
		});
		server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
	});
}

class PortTakenError extends Error {
	override name = "PortTakenError";

	constructor(port: number) {
		super(
			`port ${port} is taken; stop what listens there, or choose another with \`pnpm devnet --port ${port + 1000}\``,
		);
	}
}
