import { type Command, Option } from "commander";

const json = ["--json", "print the result as JSON"] as const;
const chain = ["<chainId>", "the chain's id, as in GET /chains"] as const;
const by = ["--by <name>", "the person who decides, for the record"] as const;

export function definePausesCommands(program: Command): void {
	const pauses = program
		.command("pauses")
		.description("pauses of chains: a paused chain gets no new swaps; swaps under way go on");
	pauses
		.command("list")
		.description("list open pauses and the most recently lifted ones; exits 1 if a chain is paused")
		.option(...json)
		.action(async (options) => {
			const { listPausesCommand } = await import("./pauses-commands.ts");
			process.exitCode = await listPausesCommand(options);
		});
	pauses
		.command("set")
		.description("pause a chain; every API process follows within two seconds")
		.argument(...chain)
		.requiredOption(...by)
		.requiredOption("--reason <text>", "the reason; callers can read this text")
		.option(...json)
		.action(async (chainId, options) => {
			const { setPauseCommand } = await import("./pauses-commands.ts");
			await setPauseCommand({ chainId, ...options });
		});
	pauses
		.command("lift")
		.description(
			"resume sales; audits the books first, reports what is still breached, and accepts those breaches",
		)
		.argument(...chain)
		.requiredOption(...by)
		.requiredOption("--reason <text>", "why it may be lifted, for the record")
		.addOption(
			new Option(
				"--cause <cause>",
				"lift only pauses with this cause; by default all but finality, which undoes blocks that were final",
			).choices(["breach", "finality", "operator"]),
		)
		.option("--unchecked", "lift without an audit, for when a chain does not answer")
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.option(...json)
		.action(async (chainId, options) => {
			const { liftPauseCommand } = await import("./pauses-commands.ts");
			process.exitCode = await liftPauseCommand({ chainId, ...options });
		});
}
