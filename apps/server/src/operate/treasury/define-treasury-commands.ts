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
	command(
		"cancel",
		"cancel a declaration that has not happened; exits 1 if there is none, or if it is booked",
	)
		.argument("<id>", "its id, as in the list")
		.requiredOption("--by <name>", "the person who decides, for the record")
		.requiredOption("--reason <text>", "why, for the record")
		.action(async (id, options) => {
			const { cancelCommand } = await import("./treasury-commands.ts");
			process.exitCode = await cancelCommand({ id, ...options });
		});
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
