import type { Command } from "commander";

/** The path of the configuration file, unless given. */
const defaultConfig = process.env.GEOSWAP_CONFIG ?? "geoswap.json";

const settings = [
	"--set <path=value...>",
	"values of your own, such as feeds.USDC/USD.heartbeatSeconds=86400",
] as const;
const without = ["--without <name...>", "tokens, feeds or venues of the preset to leave out"] as const;

export function defineChainCommands(program: Command): void {
	const chain = program
		.command("chain")
		.description("list the chains that have a preset; check, add or remove one; measure an endpoint");
	chain
		.command("list")
		.description("list the presets: what is known about each chain, and whether it is configured")
		.option("--config <file>", "the configuration file, if there is one yet", defaultConfig)
		.option("--json", "print an array, with the values that are unknown or have one source")
		.action(async (options) => {
			const { chainListCommand } = await import("./chain-commands.ts");
			chainListCommand(options);
		});
	chain
		.command("check")
		.description(
			"check a preset against a node of its chain: code, symbols, decimals, feeds, routers; changes nothing",
		)
		.argument("<name>", "the preset, as in chain list")
		.requiredOption("--rpc <url>", "an endpoint of the chain")
		.option(...settings)
		.option(...without)
		.option("--json", "print an array of { part, result, message }")
		.addHelpText("after", "\nExit codes: 0 the chain is what the preset says, 1 it is not, 2 wrong options.")
		.action(async (name, options) => {
			const { chainCheckCommand } = await import("./chain-commands.ts");
			process.exitCode = await chainCheckCommand({ name, ...options });
		});
	chain
		.command("add")
		.description(
			"add a chain to the service, step by step; run it again after each step that waits for an action by hand",
		)
		.argument("<name>", "the preset, as in chain list")
		.requiredOption("--rpc <url...>", "endpoints of the chain, the preferred one first")
		.option("--ws <url...>", "websocket endpoints, in the order of --rpc")
		.requiredOption("--owners <file>", "admin, operators, guardians, treasuries and attester set, as JSON")
		.option("--config <file>", "the configuration file", defaultConfig)
		.option("--deployer <address>", "the deployer whose contracts are searched, if its key is not here")
		.option("--account <id>", "the canary's account, which the chain is offered to first")
		.option("--api <url>", "the API, for the canary")
		.option("--inventory-usd <usd>", "USD of the settlement token that the vault needs at least", "100")
		.option(...settings)
		.option(...without)
		.option("--dry-run", "print what would be done; change nothing")
		.option("--json", "print an array of { step, state, lines }")
		.addHelpText(
			"after",
			`
Environment:
  DEPLOYER_PRIVATE_KEY        pays for the deployment, and is admin until it hands over
  GEOSWAP_CANARY_API_KEY      an API key of the canary's account
  GEOSWAP_CANARY_PRIVATE_KEY  a wallet with a few dollars in the settlement token

Exit codes: 0 the chain is offered, 1 a step failed, 2 wrong options, 3 a step waits for an action by hand.`,
		)
		.action(async (name, options) => {
			const { chainAddCommand } = await import("./chain-commands.ts");
			process.exitCode = await chainAddCommand({ name, ...options });
		});
	chain
		.command("probe")
		.description(
			"measure an endpoint: methods, log range, latency, block time, finality, fee model; changes nothing",
		)
		.argument("<name>", "the chain's preset, as in chain list")
		.requiredOption("--rpc <url>", "an endpoint of the chain")
		.option("--ws <url>", "its websocket URL, to check whether it announces blocks")
		.option("--json", "print { facts, findings }: each fact is { value, how }")
		.addHelpText("after", "\nExit codes: 0 the service can use the endpoint, 1 it cannot, 2 wrong options.")
		.action(async (name, options) => {
			const { chainProbeCommand } = await import("./chain-commands.ts");
			process.exitCode = await chainProbeCommand({ name, ...options });
		});
	chain
		.command("remove")
		.description(
			"stop quotes on a chain, wait until its swaps have ended, then take it out of the configuration",
		)
		.argument("<name>", "the preset, or the chain's id")
		.option("--config <file>", "the configuration file", defaultConfig)
		.option("--dry-run", "print what would be done; change nothing")
		.option("--json", "print { state, lines }")
		.addHelpText(
			"after",
			"\nExit codes: 0 removed, 1 failed, 2 wrong options, 3 swaps have to end first: run it again.",
		)
		.action(async (name, options) => {
			const { chainRemoveCommand } = await import("./chain-commands.ts");
			process.exitCode = await chainRemoveCommand({ name, ...options });
		});
}
