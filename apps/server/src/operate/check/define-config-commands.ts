import { type Command, Option } from "commander";

/** The path of the configuration file, unless given. */
const defaultConfig = process.env.GEOSWAP_CONFIG ?? "geoswap.json";

export function defineConfigCommands(program: Command): void {
	const config = program.command("config").description("the configuration: check it, print it");
	config
		.command("check")
		.description("check the file, the secrets of the environment, and every part that they name")
		.option("--config <file>", "the configuration file", defaultConfig)
		.addOption(
			new Option("--for <process...>", "whose secrets and parts; an attester's file is its own")
				.choices(["api", "worker", "attester"])
				.default(["api", "worker"]),
		)
		.option("--offline", "ask nothing of the network")
		.option("--json", "print an array of { part, result, message }")
		.addHelpText(
			"after",
			"\nExit codes: 0 nothing failed (warnings may be there), 1 something failed, 2 the file is wrong.",
		)
		.action(async (options) => {
			const { configCheckCommand } = await import("./config-check-command.ts");
			// Exits explicitly, because calls that timed out may still be pending.
			process.exit(await configCheckCommand(options));
		});
	config
		.command("print")
		.description("print what the file comes to, with every default, as JSON; of addresses only the hosts")
		.option("--config <file>", "the configuration file", defaultConfig)
		.option("--env", "also say which secrets are set in the environment, and never what they are")
		.option("--json", "as it always does")
		.action(async (options) => {
			const { configPrintCommand } = await import("./config-print-command.ts");
			configPrintCommand(options);
		});
}
