import { join } from "node:path";
import type { ServiceProcess } from "@geoswap/devnet";
import type { Machine } from "./network/machine.ts";
import { processOn } from "./part.ts";

const publishedFile = join(import.meta.dirname, "../../deploy/haproxy-local.cfg");

/** Returns the HAProxy of one machine, with the published configuration as it is, not started yet. */
export function localBalancer(
	machine: Machine,
	{ logFile, more = [] }: { logFile: (name: string) => string; more?: readonly string[] },
): ServiceProcess {
	return processOn(machine, {
		name: "haproxy",
		program: "haproxy",
		args: ["-db", ...[publishedFile, ...more].flatMap((file) => ["-f", file])],
		logFile: logFile(`${machine.name}-haproxy`),
		// Only its own machine reaches it.
		isReady: async () => true,
	});
}
