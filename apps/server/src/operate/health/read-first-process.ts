import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ConfigError } from "../../config/config-error.ts";
import { type ProcessName, processNames } from "../../config/process-name.ts";

/** A running process, according to its arguments. */
export type FirstProcess = { process: ProcessName; config?: string; url?: string };

/**
 * Returns what this container runs. The first process of a container is that of its image's command, or an init
 * process whose arguments contain that command.
 */
export function readFirstProcess(path = "/proc/1/cmdline"): FirstProcess {
	const args = readFileSync(path, "utf8").split("\0").slice(0, -1);
	const start = args.findIndex((arg) => isProcessName(arg));
	const name = args[start];
	if (!isProcessName(name)) {
		throw new ConfigError(
			"process",
			`process 1 is none of ${processNames.join(", ")}. Name the process to ask: geoswapd health api`,
		);
	}
	const { values } = parseArgs({
		args: args.slice(start + 1),
		options: { config: { type: "string" }, url: { type: "string" } },
		strict: false,
	});
	const { config, url } = values;
	return {
		process: name,
		...(typeof config === "string" && { config }),
		...(typeof url === "string" && { url }),
	};
}

function isProcessName(text: string | undefined): text is ProcessName {
	return processNames.some((name) => name === text);
}
