import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { waitUntil } from "./wait-until.ts";

export type ServiceProcess = {
	readonly name: string;
	readonly logFile: string;
	/** Undefined while it does not run. */
	readonly pid: number | undefined;
	/** Returns once it answers. */
	start: () => Promise<void>;
	/** Lets it finish, and returns once it is gone. */
	stop: () => Promise<void>;
	/** Only sends the signal: `exited` tells when it had its effect. */
	kill: (signal: NodeJS.Signals) => void;
	/** Settles when the process that runs now is gone, and says how it ended. */
	exited: () => Promise<string | undefined>;
};

export type ServiceOptions = {
	name: string;
	command: string;
	args: string[];
	/** All that the process sees of the environment. */
	env: Record<string, string | undefined>;
	logFile: string;
	isReady: () => Promise<boolean>;
	/** Whose process it is, where not ours. */
	user?: { uid: number; gid: number } | undefined;
	stopSignal?: NodeJS.Signals;
	/** Told when the process ended and nobody here had asked for that. */
	onUnexpectedExit?: ((message: string) => void) | undefined;
};

/** One that ends is known at once: this is for one that hangs, and other work may have all of the machine meanwhile. */
const readyTimeoutMs = 120_000;
const graceMs = 5_000;

/**
 * The shell becomes the service (`exec`, same process) and leaves a reader behind, which ends the service when the pipe
 * on its descriptor 3 closes. The pipe's other end is ours alone: the system closes it however we die, kill -9 included.
 */
const guard = (signal: NodeJS.Signals) => {
	const end = `kill -s ${signal.slice(3)} "$$" && for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$$" || exit; done && kill -s KILL "$$"`;
	return `(cat; ${end}) <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-`;
};

const running = new Set<ChildProcess>();
process.once("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** A process that can be started, killed and started again, and that never outlives this one. */
export function serviceProcess({
	name,
	command,
	args,
	env,
	logFile,
	isReady,
	user,
	stopSignal = "SIGTERM",
	onUnexpectedExit,
}: ServiceOptions): ServiceProcess {
	let current: { child: ChildProcess; exited: Promise<string>; isEndAskedFor: boolean } | undefined;

	const launch = () => {
		mkdirSync(dirname(logFile), { recursive: true });
		const log = openSync(logFile, "a");
		const child = spawn("/bin/sh", ["-c", guard(stopSignal), command, ...args], {
			// A file takes whatever comes: nobody here has to read it for the service to go on.
			stdio: ["ignore", log, log, "pipe"],
			env,
			// Out of the terminal's reach: a Ctrl-C there is ours to handle, in our order.
			detached: true,
			// Neither the clone nor our folder need be readable for another user.
			...(user ? { ...user, cwd: "/" } : {}),
		});
		closeSync(log);
		running.add(child);
		const launched = {
			child,
			isEndAskedFor: false,
			exited: new Promise<string>((resolve) => {
				const end = (how: string) => {
					running.delete(child);
					// Lets the reader end as well.
					child.stdio[3]?.destroy();
					if (current === launched) current = undefined;
					if (!launched.isEndAskedFor) onUnexpectedExit?.(`${name} ended by itself (${how}): see ${logFile}`);
					resolve(how);
				};
				child.once("error", (error) => end(error.message));
				child.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
			}),
		};
		return launched;
	};

	const stop = async () => {
		if (!current) return;
		const { child, exited } = current;
		current.isEndAskedFor = true;
		child.kill(stopSignal);
		// One that was halted cannot hear.
		child.kill("SIGCONT");
		const kill = setTimeout(() => child.kill("SIGKILL"), graceMs);
		await exited;
		clearTimeout(kill);
	};

	return {
		name,
		logFile,
		get pid() {
			return current?.child.pid;
		},
		start: async () => {
			if (current) throw new Error(`${name} runs already`);
			const launched = launch();
			current = launched;
			try {
				await waitUntil(isReady, {
					timeoutMs: readyTimeoutMs,
					problem: () => `${name} did not start: ${lastLine(logFile)} (all of it: ${logFile})`,
					hopeless: () => current !== launched,
				});
			} catch (error) {
				await stop();
				throw error;
			}
		},
		stop,
		kill: (signal) => {
			if (!current) throw new Error(`${name} does not run`);
			current.isEndAskedFor = true;
			current.child.kill(signal);
		},
		exited: async () => current?.exited,
	};
}

function lastLine(path: string): string {
	const lines = readFileSync(path, "utf8").trim().split("\n");
	// A thrown error ends with its stack: the line that says what happened is further up.
	return lines.findLast((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? "";
}
