import type { Command } from "commander";

export function defineSwapsCommands(program: Command): void {
	const swaps = program
		.command("swaps")
		.description("read swaps; these commands only read, as the database's auditor");
	const command = (name: string, description: string) =>
		swaps
			.command(name)
			.description(description)
			.option("--json", "print the result as JSON")
			.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json");
	command("show", "what a swap is, what happened to it, and where the money is; exits 1 where none is found")
		.argument(
			"<key>",
			"its id (swp_… or UUID), an order id, a transaction, or a wallet's or recipient's address",
		)
		.option("--limit <number>", "most swaps to list", "20")
		.option("--days <number>", "how far back to search for the swaps of an address", "30")
		.action(async (key, options) => {
			const { showSwapsCommand } = await import("./swaps-commands.ts");
			process.exitCode = await showSwapsCommand({ key, ...options });
		});
	command("explain", "what the service would do about a swap now, what it waits for, and what you can do")
		.argument("<key>", "as of show, where it names one swap")
		.action(async (key, options) => {
			const { explainSwapCommand } = await import("./swaps-commands.ts");
			process.exitCode = await explainSwapCommand({ key, ...options });
		});
}
