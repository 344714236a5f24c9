import { type Command, Option } from "commander";

const json = ["--json", "print the result as JSON"] as const;
const chain = ["<chainId>", "the chain's id, as in GET /chains"] as const;
const by = ["--by <name>", "the person who decides it, for the record"] as const;

export function definePausesCommands(program: Command): void {
	const pauses = program
		.command("pauses")
		.description("chains for which nothing new is sold; swaps under way go on");
	pauses
		.command("list")
		.description("those that are open, and the last ones that were lifted; exits 1 where a chain is paused")
		.option(...json)
		.action(async (options) => {
			const { listPausesCommand } = await import("./pauses-list-command.ts");
			process.exitCode = await listPausesCommand(options);
		});
	pauses
		.command("set")
		.description("pause a chain; every API process follows within two seconds")
		.argument(...chain)
		.requiredOption(...by)
		.requiredOption("--reason <text>", "why; callers read it")
		.option(...json)
		.action(async (chainId, options) => {
			const { setPauseCommand } = await import("./pauses-set-command.ts");
			await setPauseCommand({ chainId, ...options });
		});
	pauses
		.command("lift")
		.description(
			"sell again; audits the books first and says what is still breached, which is accepted by it",
		)
		.argument(...chain)
		.requiredOption(...by)
		.requiredOption("--reason <text>", "why it may be lifted, for the record")
		.addOption(
			new Option(
				"--cause <cause>",
				"only what has this cause; without it all but finality, which takes back what was final",
			).choices(["breach", "finality", "operator"]),
		)
		.option("--unchecked", "without an audit, where a chain does not answer")
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.option(...json)
		.action(async (chainId, options) => {
			const { liftPauseCommand } = await import("./pauses-lift-command.ts");
			process.exitCode = await liftPauseCommand({ chainId, ...options });
		});
}
