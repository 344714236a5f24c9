import { Argument, Command, CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { CliError } from "./cli-error.ts";
import type { Call } from "./context.ts";
import { describeError, errorLines } from "./describe-error.ts";
import { type ExitCode, exitCode, exitCodeHelp } from "./exit-code.ts";
import type { Io } from "./io.ts";
import { createOutput } from "./output.ts";
import { printable } from "./printable.ts";
import { refuseKeys } from "./refuse-keys.ts";
import { answerUnlessInterrupted, watchInterrupt } from "./watch-interrupt.ts";

const helpColumns = 80;

/** Runs the command that the arguments name, reports errors, and returns the exit code. */
export async function run(args: readonly string[], io: Io): Promise<ExitCode> {
	// `--json` is read before anything is parsed, so that errors in the arguments are reported in that form too.
	const output = createOutput(io, args.includes("--json"));
	let exit: ExitCode = exitCode.done;
	let written = "";
	try {
		refuseKeys(args);
		await watchInterrupt(io, async (signal) => {
			const program = defineProgram({ io, output, signal }, (code) => {
				exit = code;
			});
			for (const command of withSubcommands(program)) {
				command.exitOverride().configureOutput({
					writeOut: (text) => {
						written += text;
					},
					writeErr: () => {},
					getOutHelpWidth: () => helpColumns,
					getErrHelpWidth: () => helpColumns,
				});
			}
			await program.parseAsync(isBare(program, args) ? [...args, "--help"] : args, { from: "user" });
		});
		return exit;
	} catch (error) {
		if (error instanceof CommanderError && error.exitCode === 0) {
			await (output.isJson ? output.result({ help: written }, []) : io.stdout.write(written));
			return exitCode.done;
		}
		const described = await describeError(error instanceof CommanderError ? usage(error) : error);
		const { docsAddress } = await import("./config.ts");
		described.body.docs = await docsAddress(described.body.docs, io);
		if (output.isJson) await output.result({ error: described.body }, []);
		for (const line of errorLines(described.body)) {
			output.say(line, Array.isArray(line) && line[0] === "error" ? "red" : undefined);
		}
		if (io.env.GEOSWAP_DEBUG) {
			for (const line of debugText(error).split("\n")) await io.stderr.write(`${printable(line)}\n`);
		}
		return described.exit;
	} finally {
		// Once this write is done, all earlier output is written too. The process exits then.
		await io.stderr.write("");
	}
}

function defineProgram(call: Call, setExit: (code: ExitCode) => void): Command {
	const program = new Command("geoswap")
		.description("Swaps a token on one chain into a token on another, with one signature and no gas token.")
		.option("--json", "print one JSON document on stdout, for errors too")
		.version(packageJson.version)
		.helpCommand(false)
		.addHelpText(
			"after",
			`
Keys come from the keychain (geoswap init) or from GEOSWAP_API_KEY,
GEOSWAP_EVM_KEY and GEOSWAP_SOLANA_KEY; never from arguments.
Files are in GEOSWAP_HOME, or ~/.config/geoswap.

${exitCodeHelp}

Docs: /docs/cli.md at the address of the service`,
		);
	const command = (name: string, description: string, group = program) =>
		group
			.command(name)
			.description(description)
			.option("--json", "print one JSON document on stdout, for errors too")
			.allowExcessArguments(false);
	const withTerms = (defined: Command) =>
		defined
			.option("--from <chain:token>", "token to give, as base:USDC or 8453:0x8335…")
			.option("--to <chain:token>", "token to get, as optimism:USDC or solana:SOL")
			.option("--amount <number|max>", "amount to give in whole tokens, as 12.5; max is the whole balance")
			.option(
				"--receive <number>",
				"amount to get in whole tokens; gives as little as that takes, up to --max-spend",
			)
			.option("--recipient <address>", "who gets the output; your own wallet by default")
			.option("--top-up <number>", "native token that the recipient also gets, for its gas, as 0.002")
			.option("--top-up-usd <number>", "the same by its value in USD, as 0.50")
			.option("--slippage-bps <number>", "how far below the quote the delivery may be, 1 to 5000")
			.option("--min-out <number>", "refuse to sign for less than this, in whole tokens")
			.option("--max-spend <number>", "refuse to give more than this, in whole tokens");
	const wallet = ["--wallet <address>", "use this wallet instead of the one of the stored key"] as const;

	// Commands that sign, or follow what was signed, do not use this, because they end by themselves on the signal.
	const answer = (command: (call: Call) => Promise<void>) => answerUnlessInterrupted(call, command);

	// Each command loads only what it needs, so that help appears immediately.
	command("init", "write the configuration; on a terminal, ask for what is missing")
		.option("--base-url <url>", "address of the service")
		.option("--deployment <file|url>", "the operator's deployment.json: a file, or an https address")
		.option("--deployment-sha256 <hash>", "refuse a deployment file with another hash than this: sha256:…")
		.option("--rpc <chain=url...>", "RPC endpoint of a chain, for reading balances: 8453=https://…")
		.option("--no-keys", "do not ask for keys")
		.action(async (options) => {
			const { initCommand } = await import("./commands/init.ts");
			await answer((asked) => initCommand(asked, options));
		});
	withTerms(command("quote", "show what a swap would give now; nothing is signed"))
		.option(...wallet)
		.action(async (options) => {
			const { quoteCommand } = await import("./commands/quote.ts");
			await answer((asked) => quoteCommand(asked, options));
		});
	withTerms(command("swap", "swap, and wait until the output is delivered or the input is back"))
		.option("--id <text>", "id of the intent; the same id again resumes it and never swaps twice")
		.option("--resume <id>", "resume an intent that was started on this machine, with its original terms")
		.option("--accept-any-price", "sign for any quoted minimum, without asking")
		.option("--typed-only", "delegate the wallet to the account that accepts readable orders only")
		.option("--mandate <file>", "swap from the wallet of this mandate, with your key as its agent's")
		.option("--dry-run", "quote, build and verify; sign and send nothing")
		.option("--open", "open a page that shows the swap in the browser, by a link that anyone can use")
		.addHelpText("after", `\n${exitCodeHelp}`)
		.action(async (options) => {
			const { swapCommand } = await import("./commands/swap.ts");
			setExit(await swapCommand(call, options));
		});
	command("status", "follow a swap to its end; the exit codes are those of swap")
		.argument("<id>", "id of a swap, swp_…, or of an intent that was started on this machine")
		.option("--no-wait", "print the current status and exit: 0 settled, 4 refunded or failed, 5 pending")
		.action(async (id, options) => {
			const { statusCommand } = await import("./commands/status.ts");
			setExit(await statusCommand(call, { id, ...options }));
		});
	command("watch", "show each change of a swap as it happens, to its end; exit codes as of swap")
		.argument("<id>", "id of a swap, swp_…, or of an intent that was started on this machine")
		.action(async (id) => {
			const { watchCommand } = await import("./commands/watch.ts");
			setExit(await watchCommand(call, { id }));
		});
	command("history", "list the account's swaps, newest first")
		.option("--limit <number>", "maximum number of swaps, 1 to 100", "20")
		.option("--cursor <text>", "nextCursor of the previous page")
		.option("--status <status>", "only swaps with this status: pending, settled, failed or refunded")
		.option("--wallet <address>", "only swaps of this origin wallet")
		.option(
			"--from <time>",
			"only swaps quoted at this time or later, as in 2026-06-01 or 2026-06-01T12:00:00Z",
		)
		.option("--to <time>", "only swaps quoted before this time")
		.option("--unfinished", "only intents that were started on this machine and may still execute")
		.action(async (options) => {
			const { historyCommand } = await import("./commands/history.ts");
			await answer((asked) => historyCommand(asked, options));
		});
	command("share", "print a link to a page that shows a swap to a person, without a key")
		.argument("<id>", "id of a swap, swp_…, or of an intent that was started on this machine")
		.option("--revoke", "let no link to this swap work any more")
		.action(async (id, options) => {
			const { shareCommand } = await import("./commands/share.ts");
			await answer((asked) => shareCommand(asked, { id, ...options }));
		});
	command("approve", "show the terms of a swap that a model has requested, and approve it")
		.argument("<id>", "the id that the model gave the swap")
		.option("--decline", "decline it without a question")
		.action(async (id, options) => {
			const { approveCommand } = await import("./commands/approve.ts");
			await answer((asked) => approveCommand(asked, { id, ...options }));
		});
	command("receipt", "print the signed receipt of a swap that has ended, as JSON for a file")
		.argument("<id>", "id of a swap, swp_…, or of an intent that was started on this machine")
		.action(async (id) => {
			const { receiptCommand } = await import("./commands/receipt.ts");
			await answer((asked) => receiptCommand(asked, { id }));
		});
	command("verify-receipt", "check a receipt with nodes of its chains, without the service")
		.argument("<file>", "file with the receipt")
		.option("--rpc <chain=url...>", "RPC endpoint of a chain, besides those of geoswap init: 8453=https://…")
		.option("--deployment <file>", "deployment file or its address, if not the one of geoswap init")
		.action(async (file, options) => {
			const { verifyReceiptCommand } = await import("./commands/verify-receipt.ts");
			await answer((asked) => verifyReceiptCommand(asked, { rpc: [], ...options, file }));
		});
	command("balance", "show what your wallets hold, as read from the chains")
		.argument("[chain]", "only this chain, by id or name")
		.option(...wallet)
		.action(async (chain, options) => {
			const { balanceCommand } = await import("./commands/balance.ts");
			await answer((asked) => balanceCommand(asked, { chain, ...options }));
		});
	command("delegation", "show whether a wallet is ready to swap from a chain")
		.argument("<chain>", "the chain, by id or name")
		.option(...wallet)
		.action(async (chain, options) => {
			const { delegationCommand } = await import("./commands/delegation.ts");
			await answer((asked) => delegationCommand(asked, { chain, ...options }));
		});
	const endpoints = [
		"--rpc <chain=url...>",
		"RPC endpoint of a chain, instead of the configured one: 8453=https://…",
	] as const;
	command("rescue", "find an input in the contracts without the service, and take it back")
		.argument("[id]", "id of a swap, swp_…, or of an intent that was started on this machine")
		.option("--chain <chain>", "chain that the input was on, by id or name")
		.option(...wallet)
		.option(...endpoints)
		.option("--days <number>", "without an id: how many days to look back", "30")
		.option("--send", "sign and send what can be taken back now; GEOSWAP_PAYER_KEY pays if it is set")
		.action(async (id, options) => {
			const { rescueCommand } = await import("./commands/rescue.ts");
			setExit(await rescueCommand(call, { id, ...options }));
		});
	command("undelegate", "remove the wallet's delegation on a chain")
		.argument("<chain>", "the chain, by id or name")
		.option("--own-transaction", "send it without the service; GEOSWAP_PAYER_KEY pays if it is set")
		.option(...endpoints)
		.action(async (chain, options) => {
			const { undelegateCommand } = await import("./commands/undelegate.ts");
			await undelegateCommand(call, { chain, ...options });
		});
	const mandate = command(
		"mandate",
		"let an agent's own key swap from your wallet within limits",
	).helpCommand(false);
	command("create", "sign a mandate with the wallet's key, and write it to a file for the agent", mandate)
		.requiredOption("--chain <chain>", "chain that the agent may swap from, by id or name")
		.requiredOption("--agent <address>", "address of the agent's key")
		.requiredOption(
			"--cap <amount:token...>",
			"what it may give immediately and again in each period, as 100:USDC",
		)
		.requiredOption("--period <time>", "how long until a used cap is free again, as 12h or 1d")
		.requiredOption("--expires <time>", "how long the mandate is good, as 30d")
		.requiredOption("--out <file>", "file to write")
		.option("--to <chain:token...>", "what it may get; any token by default")
		.option("--recipient <chain:address...>", "who may get the output besides the wallet itself")
		.option("--epoch <number>", "the wallet's epoch; read from the chain's endpoint if there is one, else 0")
		.option(...endpoints)
		.action(async (options) => {
			const { createMandateCommand } = await import("./commands/mandate.ts");
			await answer((asked) => createMandateCommand(asked, options));
		});
	command("show", "show what a mandate allows, and whether it is good", mandate)
		.argument("<file>", "file with the mandate")
		.option(...endpoints)
		.action(async (file, options) => {
			const { showMandateCommand } = await import("./commands/mandate.ts");
			await answer((asked) => showMandateCommand(asked, { file, ...options }));
		});
	command("revoke", "end all mandates of the wallet on a chain; GEOSWAP_PAYER_KEY pays if it is set", mandate)
		.argument("<chain>", "the chain, by id or name")
		.option(...endpoints)
		.action(async (chain, options) => {
			const { revokeMandatesCommand } = await import("./commands/mandate.ts");
			await revokeMandatesCommand(call, { chain, ...options });
		});
	const webhooks = command("webhooks", "have the events of your swaps sent to an address").helpCommand(false);
	command("add", "add a webhook, and print the secret that signs its events", webhooks)
		.argument("<url>", "address that events are sent to, https://…")
		.action(async (url) => {
			const { addWebhookCommand } = await import("./commands/webhooks.ts");
			await answer((asked) => addWebhookCommand(asked, { url }));
		});
	command("list", "list the account's webhooks, and whether their receivers accept events", webhooks).action(
		async () => {
			const { listWebhooksCommand } = await import("./commands/webhooks.ts");
			await answer(listWebhooksCommand);
		},
	);
	command("rotate", "print a new secret; the old one signs too for a day", webhooks)
		.argument("<webhook>", "id of the webhook, wh_…")
		.action(async (webhookId) => {
			const { rotateWebhookCommand } = await import("./commands/webhooks.ts");
			await answer((asked) => rotateWebhookCommand(asked, { webhookId }));
		});
	command("remove", "remove a webhook; events that wait for it are dropped", webhooks)
		.argument("<webhook>", "id of the webhook, wh_…")
		.action(async (webhookId) => {
			const { removeWebhookCommand } = await import("./commands/webhooks.ts");
			await answer((asked) => removeWebhookCommand(asked, { webhookId }));
		});
	command("chains", "list the service's chains, compared with the deployment file").action(async () => {
		const { chainsCommand } = await import("./commands/chains.ts");
		await answer(chainsCommand);
	});
	command("tokens", "list the service's tokens, compared with the deployment file")
		.argument("[chain]", "only this chain, by id or name")
		.action(async (chain) => {
			const { tokensCommand } = await import("./commands/tokens.ts");
			await answer((asked) => tokensCommand(asked, { chain }));
		});
	command("mcp", "serve a model by MCP: read only, unless --allow-swaps is given")
		.option("--allow-swaps", "offer the tool swap, which asks you to approve each swap")
		.option("--budget <file>", "limits of swap; required with --allow-swaps")
		.option("--http <port>", "serve HTTP on 127.0.0.1 instead of stdio; 0 picks a free port")
		.action(async (options) => {
			const { mcpCommand } = await import("./commands/mcp.ts");
			await mcpCommand(call, options);
		});
	command("completion", "print a script that completes commands and options in your shell")
		.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
		.action(async (shell) => {
			const { completionScript } = await import("./commands/completion.ts");
			const script = completionScript(program, shell);
			await (call.output.isJson ? call.output.result({ script }, []) : call.io.stdout.write(script));
		});
	return program;
}

function withSubcommands(command: Command): Command[] {
	return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Returns whether the arguments name no command, or only a group. The help is then a result, not an error. */
function isBare(program: Command, args: readonly string[]): boolean {
	const [name, ...others] = args.filter((arg) => arg !== "--json");
	const isGroup = program.commands.some((one) => one.name() === name && one.commands.length > 0);
	return name === undefined || (isGroup && others.length === 0);
}

function usage({ message }: CommanderError): CliError {
	return new CliError(`${withoutSecret(message).replace(/\.?$/, ".")} See geoswap --help.`, {
		code: "USAGE",
	});
}

/** The maximum length of the options and commands. */
const longestName = 20;

/** Removes a word that may be a key, or have one after its equals sign. Some keys do not look like keys. */
function withoutSecret(message: string): string {
	const [, kind, text = "", suggestion = ""] =
		/^error: unknown (option|command) '(.*)'(\n\(Did you mean .*\))?$/s.exec(message) ?? [];
	if (kind === undefined) return message.replace(/^error: /, "");
	const [name = ""] = text.split("=");
	return name.length > longestName ? `unknown ${kind}` : `unknown ${kind} '${name}'${suggestion}`;
}

function debugText(error: unknown): string {
	return error instanceof Error
		? `${error.stack}${error.cause ? `\n${debugText(error.cause)}` : ""}`
		: String(error);
}
