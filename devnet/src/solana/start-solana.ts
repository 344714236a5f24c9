import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expectFreePort } from "../start-anvil.ts";

export type SolanaOptions = {
	/** How long a slot is. */
	slotMs?: number;
	/** Slots until a block is confirmed, and until it is final. */
	confirmedSlots?: number;
	finalitySlots?: number;
	/** Every so many slots there is one without a block. */
	skipEvery?: number;
};

export type SolanaProcess = {
	rpcUrl: string;
	wsUrl: string;
	pid: number;
	/** Settles when the process is gone, whoever ended it. */
	exited: Promise<void>;
	stop: () => Promise<void>;
};

/**
 * The shell becomes the chain (`exec`, same process) and leaves a reader behind, which ends the chain when the pipe on
 * its descriptor 3 closes. The pipe's other end is ours alone: the system closes it however we die, kill -9 included.
 */
const withWatchdog = '(cat; kill "$$") <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-';

const running = new Set<ChildProcess>();
process.once("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** Starts a Solana chain of its own process on 127.0.0.1; without a port, on a free one. */
export async function startSolana({
	port = 0,
	slotMs = 200,
	confirmedSlots = 2,
	finalitySlots = 32,
	skipEvery,
}: SolanaOptions & { port?: number } = {}): Promise<SolanaProcess> {
	if (port !== 0) await expectFreePort(port);
	const args = [
		["--port", String(port)],
		["--slot-ms", String(slotMs)],
		["--confirmed-slots", String(confirmedSlots)],
		["--finality-slots", String(finalitySlots)],
		...(skipEvery ? [["--skip-every", String(skipEvery)]] : []),
	].flat();
	const main = fileURLToPath(new URL("main.ts", import.meta.url));
	const child = spawn("/bin/sh", ["-c", withWatchdog, process.execPath, main, ...args], {
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
	const address = await listeningAddress(child);
	return {
		rpcUrl: `http://${address}`,
		wsUrl: `ws://${address}`,
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

function listeningAddress(child: ChildProcess): Promise<string> {
	return new Promise((resolve, reject) => {
		let output = "";
		const read = (chunk: Buffer) => {
			output += chunk;
			const address = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
			if (!address) return;
			child.off("exit", fail);
			// Read on and forget: a full pipe would stop the process.
			for (const stream of [child.stdout, child.stderr]) stream?.off("data", read).resume();
			resolve(address);
		};
		const fail = () => reject(new Error(`the Solana chain did not start: ${output.trim()}`));
		child.stdout?.on("data", read);
		child.stderr?.on("data", read);
		child.once("exit", fail);
		child.once("error", reject);
	});
}
