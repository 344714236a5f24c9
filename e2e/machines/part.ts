import { setTimeout as sleep } from "node:timers/promises";
import { baseEnvironment, type ServiceOptions, type ServiceProcess, serviceProcess } from "@geoswap/devnet";
import type { Machine } from "./network/machine.ts";

/** A machine with what runs on it. */
export type Part = {
	machine: Machine;
	processes: readonly ServiceProcess[];
	/** Returns whether it does its work, also for the others, so that a replica has caught up, or a node has joined. */
	isWell: () => Promise<boolean>;
};

/** Returns a process of a machine, not started yet. */
export function processOn(
	machine: Machine,
	{
		name,
		program,
		args,
		env = {},
		user,
		...options
	}: Pick<ServiceOptions, "name" | "logFile" | "isReady"> & {
		program: string;
		args: readonly string[];
		env?: Record<string, string>;
		user?: string;
	},
): ServiceProcess {
	const [command, ...rest] = machine.command(program, args, user === undefined ? undefined : { user });
	return serviceProcess({
		name: `${machine.name} ${name}`,
		command,
		args: rest,
		env: { ...baseEnvironment(), PATH: `${process.env.PATH}:/usr/sbin`, ...env },
		...options,
	});
}

/** Kills all processes of a machine together with SIGKILL. */
export async function killPart({ machine, processes }: Pick<Part, "machine" | "processes">): Promise<void> {
	await machine.kill();
	// A process that is gone counts as running until its exit event arrives.
	await Promise.all(processes.map((process) => process.exited()));
}

/** Starts everything on a machine, and again what ends meanwhile, as a supervisor does. */
export async function startPart({ processes }: Pick<Part, "processes">): Promise<void> {
	for (const process of processes) {
		if (process.pid !== undefined) continue;
		for (let tries = 1; ; tries++) {
			try {
				await process.start();
				break;
			} catch (error) {
				// It needs another part that is down at the moment.
				if (tries === 20) throw error;
				await sleep(1_000);
			}
		}
	}
}

export async function isAnswered(url: string): Promise<boolean> {
	try {
		const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
		await response.arrayBuffer();
		return response.ok;
	} catch {
		return false;
	}
}
