import type { Command } from "commander";

export function defineReportCommand(program: Command): void {
	program
		.command("report")
		.description(
			"what the desk earned on a day, and why its value changed; only reads, as the database's auditor; exits 1 if a chain's books of that day are not closed",
		)
		.option("--day <day>", "a day, UTC, as 2026-11-30; the default is yesterday")
		.option("--week <day>", "the seven days that begin with this one")
		.option(
			"--today",
			"from the last closed day of each chain until now, which is not compared with the chains yet",
		)
		.option("--by <key>", "group by pair, chain, account or reason", "pair")
		.option("--json", "print all values, exactly, as JSON")
		.option("--csv", "print the entries of the books as CSV, one per row")
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.action(async (options) => {
			const { reportCommand } = await import("./report-command.ts");
			process.exitCode = await reportCommand(options);
		});
}
