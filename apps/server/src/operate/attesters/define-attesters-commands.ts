import type { Command } from "commander";

const json = ["--json", "print the result as JSON"] as const;

export function defineAttestersCommands(program: Command): void {
	const attesters = program
		.command("attesters")
		.description("the attester sets that orders name, and how to replace a member");
	attesters
		.command("replace")
		.description("write a deployment file with a new attester in the place of an old one, on every chain")
		.requiredOption("--deployment <file>", "the deployment file now")
		.requiredOption("--old <address>", "the attester that goes")
		.requiredOption("--new <address>", "the address of the new attester's key")
		.requiredOption("--out <file>", "the file to write, which must not exist")
		.option(...json)
		.action(async (options) => {
			const { attestersReplaceCommand } = await import("./attesters-commands.ts");
			attestersReplaceCommand(options);
		});
	attesters
		.command("sets")
		.description(
			"list attester sets and the swaps under way that need each; exits 3 if a retired set is needed",
		)
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.option(...json)
		.action(async (options) => {
			const { attestersSetsCommand } = await import("./attesters-commands.ts");
			process.exitCode = await attestersSetsCommand(options);
		});
}
