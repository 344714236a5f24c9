import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A separate machine, as far as the network and its processes go, which is a network namespace with its own loopback
 * and address. It shares everything else, like disks and clocks, with this machine.
 */
export type Machine = {
	/** The name by which the others find it. */
	name: string;
	address: string;
	/** Returns the command that runs another one on this machine, in the same process. */
	command: (program: string, args: readonly string[], as?: { user: string }) => [string, ...string[]];
	/** Kills all of its processes together with SIGKILL. Resolves once they are gone. */
	kill: () => Promise<void>;
	/** Halts all of its processes. Its network still takes connections for them, which get no answer. */
	freeze: () => void;
	thaw: () => void;
	/** Loses every packet from and to it. No endpoint is notified, so connections stay open on both sides. */
	cut: () => void;
	join: () => void;
};

/** Returns a machine for a namespace whose end of the bridge is `port`. */
export function machineOf({
	name,
	address,
	namespace,
	port,
}: Pick<Machine, "name" | "address"> & { namespace: string; port: string }): Machine {
	const signal = (name: NodeJS.Signals) => {
		for (const pid of pidsIn(namespace)) send(pid, name);
	};
	// States of a port of a bridge. A disabled one drops everything, and the link stays up.
	const setPort = (state: "disabled" | "forwarding") =>
		run("bridge", ["link", "set", "dev", port, "state", state === "disabled" ? "0" : "3"]);
	return {
		name,
		address,
		command: (program, args, as) => [
			"ip",
			...["netns", "exec", namespace],
			...(as ? ["setpriv", "--reuid", as.user, "--regid", as.user, "--clear-groups"] : []),
			program,
			...args,
		],
		kill: async () => {
			// A process may have started another one just before it is killed.
			while (pidsIn(namespace).length > 0) {
				signal("SIGKILL");
				await sleep(10);
			}
		},
		freeze: () => signal("SIGSTOP"),
		thaw: () => signal("SIGCONT"),
		cut: () => setPort("disabled"),
		join: () => setPort("forwarding"),
	};
}

/** Returns the processes of a namespace that have not ended. */
function pidsIn(namespace: string): number[] {
	return run("ip", ["netns", "pids", namespace])
		.split("\n")
		.filter(Boolean)
		.map(Number)
		.filter((pid) => !isZombie(pid));
}

/** A process that has ended stays in the list until its parent reaps it. */
function isZombie(pid: number): boolean {
	try {
		return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return true;
	}
}

function send(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(pid, signal);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
	}
}

export function run(program: string, args: readonly string[]): string {
	return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
