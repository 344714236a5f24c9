#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { ConfigError } from "./config-error.ts";

// Each command loads only what it needs: an attester has no database driver in its process.
const program = new Command("geoswapd")
	.description("The Geoswap service: its processes and its operator's commands.")
	.showHelpAfterError("(see --help)")
	.addHelpText(
		"after",
		`
Exit codes: 0 done, 1 failed, 2 wrong input: an option, the configuration, a variable of the environment.
reconcile: 1 where books and chains differ, 3 where that could not be checked.`,
	)
	.exitOverride();

const withConfig = (name: string, description: string) =>
	program
		.command(name)
		.description(description)
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json");

withConfig("api", "serve the HTTP interface").action(async ({ config }) => {
	const { runApi } = await import("./run-api.ts");
	await runApi(config);
});
withConfig("worker", "run swaps: workflows, lanes, followers").action(async ({ config }) => {
	const { runWorker } = await import("./run-worker.ts");
	await runWorker(config);
});
withConfig("attester", "sign what was seen final; needs only its key and endpoints of its own").action(
	async ({ config }) => {
		const { runAttester } = await import("./run-attester.ts");
		await runAttester(config);
	},
);
program
	.command("migrate")
	.description("bring the database's schema up to date")
	.option("--json", "print the result as JSON")
	.action(async ({ json }) => {
		const { migrateCommand } = await import("./commands/migrate-command.ts");
		await migrateCommand({ json });
	});

const keys = program.command("keys").description("API keys of accounts");
keys
	.command("create")
	.description("make a key; it is shown once")
	.requiredOption("--account <name>", "the account's name; made where there is none")
	.option("--rate <operation=number...>", "requests per second instead of the configured ones: quote=100")
	.option("--json", "print the result as JSON")
	.action(async ({ account, rate, json }) => {
		const { createKeyCommand } = await import("./commands/keys-command.ts");
		await createKeyCommand({ account, rate, json });
	});
keys
	.command("list")
	.description("all keys, without their secrets")
	.option("--json", "print the result as JSON")
	.action(async ({ json }) => {
		const { listKeysCommand } = await import("./commands/keys-command.ts");
		await listKeysCommand({ json });
	});
keys
	.command("revoke")
	.description("end a key; every API process sees it within two seconds")
	.argument("<id>", "the key's id, the part between the underscores")
	.option("--json", "print the result as JSON")
	.action(async (id, { json }) => {
		const { revokeKeyCommand } = await import("./commands/keys-command.ts");
		await revokeKeyCommand({ id, json });
	});

withConfig(
	"reconcile",
	"check the books against the chains; exits 1 where they differ, 3 where it cannot tell",
)
	.option("--json", "print the report as JSON")
	.action(async ({ config, json }) => {
		const { reconcileCommand } = await import("./commands/reconcile-command.ts");
		process.exitCode = await reconcileCommand({ config, json });
	});
withConfig("config", "check the configuration file and print what it comes to").action(async ({ config }) => {
	const { configCommand } = await import("./commands/config-command.ts");
	configCommand(config);
});

try {
	await program.parseAsync();
} catch (error) {
	// It has said what is wrong by itself, or that nothing is.
	if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
	// What a person can mend is a sentence; anything else is a bug, and its stack is wanted.
	if (error instanceof ConfigError) {
		console.error(`error: ${error.message}`);
		process.exit(2);
	}
	const { describeError } = await import("./log.ts");
	console.error("error:", describeError(error));
	process.exit(1);
}
