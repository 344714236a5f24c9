import { type Command, Option } from "commander";
import { processNames } from "../../config/process-name.ts";

/** The path of the configuration file, unless given. */
const defaultConfig = process.env.GEOSWAP_CONFIG ?? "geoswap.json";

export function defineConfigCommands(program: Command): void {
	const config = program.command("config").description("check or print the configuration");
	config
		.command("check")
		.description("check the file, the secrets in the environment, and every service that they name")
		.option("--config <file>", "the configuration file", defaultConfig)
		.addOption(
			new Option("--for <process...>", "the processes to check; an attester has a separate file")
				.choices(processNames)
				.default(["api", "worker", "audit"]),
		)
		.option("--offline", "make no network calls")
		.option("--json", "print an array of { part, result, message }")
		.addHelpText(
			"after",
			"\nExit codes: 0 nothing failed (there may be warnings), 1 something failed, 2 the file is wrong.",
		)
		.action(async (options) => {
			const { configCheckCommand } = await import("./config-check-command.ts");
			// Exits explicitly, because calls that timed out may still be pending.
			process.exit(await configCheckCommand(options));
		});
	config
		.command("print")
		.description("print the configuration with every default as JSON; of URLs only the hosts")
		.option("--config <file>", "the configuration file", defaultConfig)
		.option("--env", "also print which secrets are set in the environment, never their values")
		.option("--json", "print JSON, which is the default")
		.action(async (options) => {
			const { configPrintCommand } = await import("./config-check-command.ts");
			configPrintCommand(options);
		});
}
