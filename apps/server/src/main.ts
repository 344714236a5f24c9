#!/usr/bin/env node
import { Command } from "commander";
import { defineConsoleCommands } from "./console/command/define-console-commands.ts";
import { defineAttestersCommands } from "./operate/attesters/define-attesters-commands.ts";
import { defineChainCommands } from "./operate/chain/define-chain-commands.ts";
import { defineConfigCommands } from "./operate/check/define-config-commands.ts";
import { defineHealthCommand } from "./operate/health/define-health-command.ts";
import { defineAccountsCommands, defineKeysCommands } from "./operate/key/define-keys-commands.ts";
import { definePausesCommands } from "./operate/pause/define-pauses-commands.ts";
import { defineReportCommand } from "./operate/report/define-report-command.ts";
import { runProgram } from "./operate/run-program.ts";
import { defineShadowCommands } from "./operate/shadow/define-shadow-commands.ts";
import { defineSignersCommands } from "./operate/signers/define-signers-commands.ts";
import { defineSwapsCommands } from "./operate/swaps/define-swaps-commands.ts";
import { defineTreasuryCommands } from "./operate/treasury/define-treasury-commands.ts";

// Each command loads only what it needs: an attester has no database driver in its process.
const program = new Command("geoswapd")
	.description("The Geoswap service: its processes and the operator's commands.")
	.showHelpAfterError("(see --help)")
	.addHelpText(
		"after",
		`
Exit codes: 0 done, 1 failed, 2 wrong input: an option, the configuration, an environment variable.
reconcile: 1 if books and chains differ, 3 if that could not be checked.
pauses list: 1 if a chain is paused. pauses lift: 1 if the chain is not, 3 if the books could not be checked, 4 if an audit found more meanwhile.
swaps show, swaps explain: 1 if no swap is found.
report: 1 if the books of a chain are not closed for that day.
treasury plan: 1 if there is no recent plan.
treasury cancel, treasury show: 1 if there is no such move, or if it can no longer be cancelled.
console operators remove: 1 if there is none of that name.
signers check: 1 if a key does not sign.
attesters sets: 3 if swaps under way need a retired set.
keys scan: 1 if a usable key is found, 3 if that could not be checked.`,
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
withConfig("worker", "run swaps: rounds, lanes and followers")
	.option(
		"--url <url>",
		"the http://host:port at which the engine calls this worker, in place of worker.publicUrl and worker.port",
	)
	.action(async ({ config, url }) => {
		const { runWorker } = await import("./process/run-worker.ts");
		await runWorker(config, { url });
	});
withConfig(
	"audit",
	"check the books against the chains again and again, and pause a chain that does not agree; holds no key",
).action(async ({ config }) => {
	const { runAudit } = await import("./process/run-audit.ts");
	await runAudit(config);
});
withConfig(
	"attester",
	"sign what it has read as final on the chains; needs only its own key and endpoints",
).action(async ({ config }) => {
	const { runAttester } = await import("./process/run-attester.ts");
	await runAttester(config);
});
withConfig("migrate", "bring the database's schema, roles and their rights up to date")
	.option(
		"--passwords",
		"also give the roles the passwords in API_, WORKER_, AUDITOR_ and, if set, CONSOLE_DATABASE_URL",
	)
	.option("--json", "print the result as JSON")
	.action(async ({ config, passwords, json }) => {
		const { migrateCommand } = await import("./operate/migrate-command.ts");
		await migrateCommand({ config, passwords, json });
	});
defineHealthCommand(program);

program
	.command("restored")
	.description(
		"after the database or the engine was restored from a backup, have every unfinished swap checked again",
	)
	.option("--json", "print the result as JSON")
	.action(async ({ json }) => {
		const { restoredCommand } = await import("./operate/restored-command.ts");
		await restoredCommand({ json });
	});

withConfig(
	"seal-keys",
	"print the next value of GEOSWAP_SEAL_KEYS, with a new key; it is a secret for your secret store",
)
	.option("--from <time>", "when the new key begins to seal, as 2026-12-01T00:00:00Z; in an hour by default")
	.action(async (options) => {
		const { sealKeysNextCommand } = await import("./operate/seal-keys-next-command.ts");
		sealKeysNextCommand(options);
	});

defineAccountsCommands(program);
defineKeysCommands(program);

withConfig(
	"reconcile",
	"check the books against the chains; exits 1 if they differ, 3 if that could not be checked",
)
	.option("--json", "print the report as JSON")
	.action(async ({ config, json }) => {
		const { reconcileCommand } = await import("./operate/reconcile/reconcile-command.ts");
		process.exitCode = await reconcileCommand({ config, json });
	});
defineSwapsCommands(program);
definePausesCommands(program);
defineTreasuryCommands(program);
defineReportCommand(program);
defineChainCommands(program);
defineConfigCommands(program);
defineConsoleCommands(program, {
	run: async ({ config }) => {
		const { runConsole } = await import("./process/run-console.ts");
		await runConsole(config);
	},
});
defineAttestersCommands(program);
defineSignersCommands(program);
defineShadowCommands(program, {
	run: async (options) => {
		const { runShadow } = await import("./process/run-shadow.ts");
		await runShadow(options);
	},
});

const exitCode = await runProgram(program, process.argv.slice(2));
// Something that failed may leave behind what would keep the process alive.
if (exitCode !== undefined) process.exit(exitCode);
