import type { Command } from "commander";

const json = ["--json", "print the result as JSON"] as const;
const actor = ["--actor <name>", "who does this, for the log; by default the user of this machine"] as const;

/**
 * Defines the console's commands. `run` serves the pages. It is passed in, because the parts of a process are put
 * together elsewhere.
 */
export function defineConsoleCommands(
	program: Command,
	{ run }: { run: (options: { config: string }) => Promise<void> },
): void {
	const config = [
		"--config <file>",
		"the configuration file",
		process.env.GEOSWAP_CONFIG ?? "geoswap.json",
	] as const;
	const pages = program
		.command("console")
		.description("serve the operator's pages on a private port")
		.option(...config)
		.action(run);
	pages
		.command("invite")
		.description("print a one-time link with which an operator registers a passkey; also for a second device")
		.requiredOption("--name <name>", "the operator's name, as the log shows it")
		.option(...actor)
		.option(...config)
		.option(...json)
		.action(async (_, command: Command) => {
			const { inviteCommand } = await import("./console-operators-commands.ts");
			await inviteCommand(command.optsWithGlobals());
		});
	const operators = pages.command("operators").description("the operators who may log in");
	operators
		.command("list")
		.description("list operators, their passkeys and last logins")
		.option(...json)
		.action(async (options) => {
			const { listOperatorsCommand } = await import("./console-operators-commands.ts");
			await listOperatorsCommand(options);
		});
	operators
		.command("remove")
		.description("remove an operator and log them out everywhere; exits 1 if there is none of that name")
		.argument("<name>")
		.option(...actor)
		.option(...json)
		.action(async (name, options) => {
			const { removeOperatorCommand } = await import("./console-operators-commands.ts");
			process.exitCode = await removeOperatorCommand({ name, ...options });
		});
}
