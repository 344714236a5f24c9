import { Argument, type Command } from "commander";
import { processNames } from "../../config/process-name.ts";

export function defineHealthCommand(program: Command): void {
	program
		.command("health")
		.description("check whether a process of this machine is healthy, at its configured address")
		.addArgument(
			new Argument(
				"[process]",
				"the process; without it, the one that this container was started with",
			).choices(processNames),
		)
		.option(
			"--config <file>",
			"the process's configuration file",
			process.env.GEOSWAP_CONFIG ?? "geoswap.json",
		)
		.option("--url <url>", "the worker's --url, if it has one")
		.option("--ready", "check whether the API accepts requests (/ready) instead of whether it runs (/health)")
		.option("--json", "print { process, url, healthy, problem }")
		.addHelpText("after", "\nExit codes: 0 it is well, 1 it is not or does not answer, 2 wrong input.")
		.action(async (name, options) => {
			const { healthCommand } = await import("./health-command.ts");
			process.exitCode = await healthCommand({ ...options, process: name });
		});
}
