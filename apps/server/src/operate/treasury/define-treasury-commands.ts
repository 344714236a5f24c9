import type { Command } from "commander";

export function defineTreasuryCommands(program: Command): void {
	const treasury = program
		.command("treasury")
		.description("the desk's own money: what comes into the vaults and leaves them without a swap");
	const command = (name: string, description: string) =>
		treasury
			.command(name)
			.description(description)
			.option("--json", "print the result as JSON")
			.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json");
	const declaring = (name: string, description: string) =>
		command(name, description)
			.requiredOption("--chain <chainId>", "the chain's id, as in GET /chains")
			.requiredOption("--token <symbol>", "the token's symbol or address")
			.requiredOption("--amount <amount>", "in whole tokens, as in 1000.5")
			.requiredOption("--by <name>", "the person who decides, for the record")
			.requiredOption("--reason <text>", "why, for the record");
	declaring("deposit", "declare what you send to the vault or to a relayer, before you send it")
		.option("--to <address>", "the vault or the relayer that receives it; the vault by default")
		.action(async (options) => {
			const { depositCommand } = await import("./treasury-commands.ts");
			await depositCommand(options);
		});
	declaring(
		"withdraw",
		"declare what you take out of the vault or a relayer, before it is scheduled; what nobody declared is a breach",
	)
		.requiredOption("--to <address>", "the address that receives it")
		.option("--from <address>", "the vault or the relayer that it leaves; the vault by default")
		.action(async (options) => {
			const { withdrawCommand } = await import("./treasury-commands.ts");
			await withdrawCommand(options);
		});
	command(
		"plan",
		"print what the service would move between the vaults, and why; exits 1 if there is no plan of the last 15 minutes",
	).action(async (options) => {
		const { planCommand } = await import("./plan-command.ts");
		process.exitCode = await planCommand(options);
	});
	const decided = (command: Command) =>
		command
			.requiredOption("--by <name>", "the person who decides, for the record")
			.requiredOption("--reason <text>", "why, for the record");
	const deciding = (name: string, description: string) =>
		decided(command(name, description).argument("<id>", "its id, as in the list"));
	deciding(
		"cancel",
		"cancel a declaration that has not happened, or a move that is queued; exits 1 if there is none, or if it is too late",
	).action(async (id, options) => {
		const { cancelCommand } = await import("./decide-commands.ts");
		process.exitCode = await cancelCommand({ id, ...options });
	});
	deciding(
		"retry",
		"look at a stuck bridge from its burn on, with a new attestation; exits 1 if it is not stuck",
	).action(async (id, options) => {
		const { retryCommand } = await import("./decide-commands.ts");
		process.exitCode = await retryCommand({ id, ...options });
	});
	deciding(
		"write-off",
		"book the amount of a stuck bridge as a loss, and give the bridge up; exits 1 if it is not stuck",
	).action(async (id, options) => {
		const { writeOffCommand } = await import("./decide-commands.ts");
		process.exitCode = await writeOffCommand({ id, ...options });
	});
	decided(
		command(
			"adopt",
			"add the row of a move that a vault has made and the database lacks, as after a restore; exits 1 if it has one, or if no vault made it. Check first that the service made it: a thief's move looks the same",
		)
			.argument("<moveId>", "the move's id in the vault's event, as geoswapd reconcile prints it")
			.requiredOption("--chain <chainId>", "the chain whose vault made it, as in GET /chains"),
	).action(async (moveId, options) => {
		const { adoptCommand } = await import("./decide-commands.ts");
		process.exitCode = await adoptCommand({ moveId, ...options });
	});
	decided(
		command("pause", "have the treasurer's keys start no move; what is between two chains still arrives"),
	).action(async (options) => {
		const { pauseCommand } = await import("./pause-commands.ts");
		await pauseCommand(options);
	});
	decided(command("resume", "end the pause; exits 1 if the treasury is not paused")).action(
		async (options) => {
			const { resumeCommand } = await import("./pause-commands.ts");
			process.exitCode = await resumeCommand(options);
		},
	);
	command("moves", "list what was declared and moved: first what is not over, then the newest")
		.option("--limit <number>", "the maximum number to list", "20")
		.action(async (options) => {
			const { movesCommand } = await import("./treasury-commands.ts");
			await movesCommand(options);
		});
	command("show", "print one declaration or move; exits 1 if there is none")
		.argument("<id>", "its id, as in the list")
		.action(async (id, options) => {
			const { showMoveCommand } = await import("./treasury-commands.ts");
			process.exitCode = await showMoveCommand({ id, ...options });
		});
}
