import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Plan } from "./plan.ts";
import type { RunResult } from "./run-plan.ts";

export type SimulationProcess = {
	/** Runs one plan at a time. */
	run: (plan: Plan, options?: { keepTrace?: boolean }) => Promise<RunResult>;
	stop: () => Promise<void>;
};

export type SimulationRequest = { plan: Plan; keepTrace: boolean };
export type SimulationAnswer = { result: RunResult } | { error: string };

const program = fileURLToPath(new URL("simulation-program.ts", import.meta.url));
const planting = new URL("bugs/plant-bug.ts", import.meta.url).href;
const quickening = new URL("quick-modules.ts", import.meta.url).href;

/** Starts a process that runs plans, with a bug planted in the service's code if one is named. */
export function startSimulationProcess({
	databaseUrl,
	bug,
}: {
	databaseUrl: string;
	bug?: string | undefined;
}): SimulationProcess {
	const child = fork(program, [databaseUrl], {
		execArgv: ["--no-warnings", "--import", quickening, ...(bug ? ["--import", planting] : [])],
		env: { ...process.env, ...(bug && { GEOSWAP_PLANTED_BUG: bug }) },
		stdio: ["ignore", "inherit", "pipe", "ipc"],
	});
	let said = "";
	child.stderr?.on("data", (chunk) => {
		said = `${said}${chunk}`.slice(-4_000);
	});
	// The `close` event never comes if this process closed the channel.
	const ended = new Promise<string>((resolve) => {
		child.once("exit", (code, signal) => resolve(`it ended with ${signal ?? code}\n${said}`));
	});
	return {
		run: (plan, { keepTrace = false } = {}) => {
			const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
			const take = (answer: SimulationAnswer) => {
				if ("result" in answer) resolve(answer.result);
				else reject(new Error(`seed ${plan.seed}: ${answer.error}`));
			};
			child.once("message", take);
			void ended.then((how) => reject(new Error(`the process of seed ${plan.seed}: ${how}`)));
			if (child.connected)
				child.send({ plan, keepTrace } satisfies SimulationRequest, (error) => error && reject(error));
			return promise.finally(() => child.off("message", take));
		},
		stop: async () => {
			if (child.connected) child.disconnect();
			// The process cleans up after itself, unless it is in the middle of a run.
			const impatience = setTimeout(() => child.kill("SIGKILL"), 2_000);
			await ended;
			clearTimeout(impatience);
		},
	};
}
