import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { foundryBinary } from "@geoswap/contracts";

export type Anvil = {
	url: string;
	pid: number;
	/** Settles when the process is gone, whoever ended it. */
	exited: Promise<void>;
	stop: () => Promise<void>;
};

/**
 * The shell becomes anvil (`exec`, same process) and leaves a reader behind, which ends anvil when the pipe on its
 * descriptor 3 closes. The pipe's other end is ours alone: the system closes it however we die, kill -9 included.
 */
const withWatchdog = '(cat; kill "$$") <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

const running = new Set<ChildProcess>();
process.once("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** Starts a chain of its own process on 127.0.0.1; without a port, on a free one. */
export async function startAnvil({
	chainId,
	port = 0,
	stateFile,
}: {
	chainId: number;
	port?: number;
	/** A state to begin with. */
	stateFile?: string;
}): Promise<Anvil> {
	if (port !== 0) await expectFreePort(port);
	const args = [
		["--host", "127.0.0.1"],
		["--port", String(port)],
		["--chain-id", String(chainId)],
		["--hardfork", "prague"],
		// Few blocks from latest to safe and finalized.
		["--slots-in-an-epoch", "2"],
		// The accounts that everyone knows get nothing here: what works on the devnet works with keys of its own.
		["--accounts", "0"],
		...(stateFile ? [["--load-state", stateFile]] : []),
	].flat();
	const child = spawn("/bin/sh", ["-c", withWatchdog, foundryBinary("anvil", import.meta.url), ...args], {
		stdio: ["ignore", "pipe", "pipe", "pipe"],
		// Out of the terminal's reach: a Ctrl-C there is ours to handle, in our order.
		detached: true,
	});
	running.add(child);
	const exited = new Promise<void>((resolve) => {
		child.once("exit", () => {
			running.delete(child);
			// Lets the reader end as well.
			child.stdio[3]?.destroy();
			resolve();
		});
	});
	const url = await listeningUrl(child);
	await silence(url);
	return {
		url,
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

/** It prints each request. A process too busy to read that would, once the pipe is full, stop the chain. */
async function silence(url: string): Promise<void> {
	await fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setLoggingEnabled", params: [false] }),
	});
}

function listeningUrl(child: ChildProcess): Promise<string> {
	return new Promise((resolve, reject) => {
		let output = "";
		const read = (chunk: Buffer) => {
			output += chunk;
			const address = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
			if (!address) return;
			child.off("exit", fail);
			// Read on and forget: a full pipe would stop the process.
			for (const stream of [child.stdout, child.stderr]) stream?.off("data", read).resume();
			resolve(`http://${address}`);
		};
		const fail = () => reject(new Error(`anvil did not start: ${output.trim().split("\n").at(-1)}`));
		child.stdout?.on("data", read);
		child.stderr?.on("data", read);
		child.once("exit", fail);
		child.once("error", reject);
	});
}

/** Refuses before anything is started: anvil's own error does not say what to do. */
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
			`port ${port} is taken: stop what listens there, or choose another with \`pnpm devnet --port ${port + 1000}\``,
		);
	}
}
