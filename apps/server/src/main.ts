#!/usr/bin/env node
import { Command } from "commander";
import { defineConfigCommands } from "./operate/check/define-config-commands.ts";
import { defineAccountsCommands, defineKeysCommands } from "./operate/key/define-keys-commands.ts";
import { definePausesCommands } from "./operate/pause/define-pauses-commands.ts";
import { runProgram } from "./operate/run-program.ts";
import { defineSwapsCommands } from "./operate/swaps/define-swaps-commands.ts";

// Each command loads only what it needs: an attester has no database driver in its process.
const program = new Command("geoswapd")
	.description("The Geoswap service: its processes and its operator's commands.")
	.showHelpAfterError("(see --help)")
	.addHelpText(
		"after",
		`
Exit codes: 0 done, 1 failed, 2 wrong input: an option, the configuration, a variable of the environment.
reconcile: 1 where books and chains differ, 3 where that could not be checked.
pauses list: 1 where a chain is paused. pauses lift: 1 where the chain is not, 3 where the books could not be checked.
swaps show, swaps explain: 1 where no swap is found.
keys scan: 1 where a key is found that could be used, 3 where that could not be checked.`,
	)
	.exitOverride();

const withConfig = (name: string, description: string) =>
	program
		.command(name)
		.description(description)
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json");

withConfig("api", "serve the HTTP interface").action(async ({ config }) => {
	const { runApi } = await import("./process/run-api.ts");
	await runApi(config);
});
withConfig("worker", "run swaps: rounds, lanes, followers").action(async ({ config }) => {
	const { runWorker } = await import("./process/run-worker.ts");
	await runWorker(config);
});
withConfig("attester", "sign what was seen final; needs only its key and endpoints of its own").action(
	async ({ config }) => {
		const { runAttester } = await import("./process/run-attester.ts");
		await runAttester(config);
	},
);
withConfig("migrate", "bring the database's schema, and its roles and their rights, up to date")
	.option("--json", "print the result as JSON")
	.action(async ({ config, json }) => {
		const { migrateCommand } = await import("./operate/migrate-command.ts");
		await migrateCommand({ config, json });
	});

program
	.command("restored")
	.description("after a database or an engine was restored from a backup: start every unfinished swap anew")
	.option("--json", "print the result as JSON")
	.action(async ({ json }) => {
		const { restoredCommand } = await import("./operate/restored-command.ts");
		await restoredCommand({ json });
	});

withConfig(
	"seal-keys",
	"print the next value of GEOSWAP_SEAL_KEYS, with a new key: a secret, for your secret store",
)
	.option("--from <time>", "when the new key begins to seal, as 2026-12-01T00:00:00Z; in an hour unless told")
	.action(async (options) => {
		const { sealKeysNextCommand } = await import("./operate/seal-keys-next-command.ts");
		sealKeysNextCommand(options);
	});

defineAccountsCommands(program);
defineKeysCommands(program);

withConfig(
	"reconcile",
	"check the books against the chains; exits 1 where they differ, 3 where it cannot tell",
)
	.option("--json", "print the report as JSON")
	.action(async ({ config, json }) => {
		const { reconcileCommand } = await import("./operate/reconcile/reconcile-command.ts");
		process.exitCode = await reconcileCommand({ config, json });
	});
defineSwapsCommands(program);
definePausesCommands(program);
defineConfigCommands(program);

const exitCode = await runProgram(program, process.argv.slice(2));
// Something that failed may leave behind what would keep the process alive.
if (exitCode !== undefined) process.exit(exitCode);
