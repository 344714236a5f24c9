import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { waitUntil } from "./wait-until.ts";

export type ServiceProcess = {
	readonly name: string;
	readonly logFile: string;
	/** Undefined while the process does not run. */
	readonly pid: number | undefined;
	/** Resolves once the process is ready. */
	start: () => Promise<void>;
	/** Lets the process finish, and resolves once it is gone. */
	stop: () => Promise<void>;
	/** Only sends the signal. `exited` settles when the process is gone. */
	kill: (signal: NodeJS.Signals) => void;
	/** Settles when the current process is gone, with how it ended. */
	exited: () => Promise<string | undefined>;
};

export type ServiceOptions = {
	name: string;
	command: string;
	args: string[];
	/** The whole environment of the process. */
	env: Record<string, string | undefined>;
	logFile: string;
	isReady: () => Promise<boolean>;
	/** The user that the process runs as, if not the current one. */
	user?: { uid: number; gid: number } | undefined;
	stopSignal?: NodeJS.Signals;
	/** Called when the process ended without being stopped from here. */
	onUnexpectedExit?: ((message: string) => void) | undefined;
};

/**
 * For a process that hangs while other work may take the whole machine. A process that exits is noticed immediately.
 */
const readyTimeoutMs = 300_000;
const graceMs = 5_000;

/**
 * The shell becomes the service (`exec`, same process) and leaves a reader behind, which ends the service when the pipe
 * on its descriptor 3 closes. Only this process holds the pipe's other end, which the system closes however this
 * process ends, kill -9 included.
 */
const guard = (signal: NodeJS.Signals) => {
	const end = `kill -s ${signal.slice(3)} "$$" && for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$$" || exit; done && kill -s KILL "$$"`;
	return `(cat; ${end}) <&3 >/dev/null 2>&1 & exec "$0" "$@" 3<&-`;
};

const running = new Set<ChildProcess>();
process.once("exit", () => {
	for (const child of running) child.kill("SIGKILL");
});

/** Manages a process that can be started, killed and started again, and that never outlives this one. */
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
			// A file takes all output, so the service does not depend on this process reading it.
			stdio: ["ignore", log, log, "pipe"],
			env,
			// Detached from the terminal, because this process handles Ctrl-C and stops its children in its own order.
			detached: true,
			// Another user may be unable to read the clone or this user's folder.
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
					// Closing the pipe lets the reader end as well.
					child.stdio[3]?.destroy();
					if (current === launched) current = undefined;
					if (!launched.isEndAskedFor)
						onUnexpectedExit?.(`${name} ended unexpectedly (${how}): see ${logFile}`);
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
		// A halted process cannot handle the signal.
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
			if (current) throw new Error(`${name} is already running`);
			const launched = launch();
			current = launched;
			try {
				await waitUntil(isReady, {
					timeoutMs: readyTimeoutMs,
					problem: () => `${name} did not start: ${lastLine(logFile)} (full log: ${logFile})`,
					hopeless: () => current !== launched,
				});
			} catch (error) {
				await stop();
				throw error;
			}
		},
		stop,
		kill: (signal) => {
			if (!current) throw new Error(`${name} is not running`);
			current.isEndAskedFor = true;
			current.child.kill(signal);
		},
		exited: async () => current?.exited,
	};
}

function lastLine(path: string): string {
	const lines = readFileSync(path, "utf8").trim().split("\n");
	// A thrown error ends with its stack, so its message is further up.
	return lines.findLast((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? "";
}
