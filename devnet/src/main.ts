import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { describeDevnet } from "./describe-devnet.ts";
import { connectDevnetChain } from "./devnet-chain.ts";
import { defaultDataDir, defaultPort, readRunningDevnet } from "./devnet-files.ts";
import { devnetSol } from "./devnet-tokens.ts";
import { movePrice, type PriceMove, parsePercent } from "./move-price.ts";
import { moveSolPrice } from "./move-sol-price.ts";
import { hasSolFeed } from "./solana-feeds.ts";
import { startDevnet } from "./start-devnet.ts";

type Options = { port: number; dataDir?: string; json?: boolean };

const program = new Command("devnet")
	.description(
		"Starts two EVM chains and a Solana on this machine, with everything that a swap needs. Runs until Ctrl-C, which stops everything.",
	)
	.enablePositionalOptions()
	.allowExcessArguments(false)
	.action(start);
const price = program
	.command("price")
	.description("Changes the price of an asset in its feed and in all its pools, on a running devnet")
	.argument("<asset>", "symbol, such as ETH or SOL")
	.argument("<percent>", "change in percent, such as +5 or -2.5")
	.option(
		"--chain <id>",
		"on this chain only (default: every chain on which it has a price)",
		parseWholeNumber,
	)
	.addHelpText("after", "\nExample: pnpm devnet price ETH -2.5")
	.action(changePrice);
for (const command of [program, price]) {
	command
		.option(
			"--port <number>",
			"port of the first chain; the other chains and Iris use the next ports",
			parsePort,
			defaultPort,
		)
		.option("--data-dir <path>", "folder of its files (default: .devnet, or .devnet/port-<number>)")
		.option("--json", "print the result as JSON on stdout, progress on stderr");
}

try {
	await program.parseAsync(withNegativePercent(process.argv));
} catch (error) {
	console.error(`error: ${(error as { shortMessage?: string }).shortMessage ?? (error as Error).message}`);
	process.exit(1);
}

async function start(options: Options): Promise<void> {
	const startedAt = performance.now();
	const say = options.json ? console.error : console.log;
	// Before the chains are up there is nothing to stop, since exiting ends them.
	let stop = async () => {};
	let isStopping = false;
	const end = async () => {
		if (isStopping) return;
		isStopping = true;
		await stop();
		process.exit(0);
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => void end());
	}

	const devnet = await startDevnet({ port: options.port, dataDir: dataDirOf(options), onProgress: say });
	stop = devnet.stop;
	if (options.json) {
		const { running, deployment, files } = devnet;
		console.log(JSON.stringify({ ...running, files, deployment }));
	} else {
		console.log(`\n${describeDevnet(devnet)}\n`);
	}
	say(`up after ${((performance.now() - startedAt) / 1000).toFixed(1)} s; press Ctrl-C to stop`);
	await devnet.failed.catch(async (error) => {
		await devnet.stop();
		throw error;
	});
}

async function changePrice(
	symbol: string,
	percent: string,
	options: Options & { chain?: number },
): Promise<void> {
	parsePercent(percent);
	const { chains, deployment } = readRunningDevnet(dataDirOf(options));
	const chosen = chains.filter(({ chainId }) => options.chain === undefined || options.chain === chainId);
	if (chosen.length === 0) {
		throw new Error(`no chain ${options.chain}: choose one of ${chains.map((c) => c.chainId).join(", ")}`);
	}
	// Solana's own token has one feed, on one of the chains.
	const isSol = symbol.toUpperCase() === devnetSol.symbol;
	const priced = isSol && options.chain === undefined ? chosen.filter(hasSolFeed) : chosen;
	const moves = await Promise.all(
		priced.map((endpoint) => {
			if (isSol) return moveSolPrice(connectDevnetChain(endpoint), { percent });
			const chain = deployment.chains.find(({ chainId }) => chainId === endpoint.chainId);
			if (!chain) throw new Error(`the deployment file has no chain ${endpoint.chainId}`);
			return movePrice(connectDevnetChain(endpoint), chain, { symbol, percent });
		}),
	);
	console.log(options.json ? JSON.stringify(moves) : moves.map(describeMove).join("\n"));
}

function describeMove({ chainId, symbol, feed, pools }: PriceMove): string {
	const line = (where: string, before: string, after: string, unit: string) =>
		`  ${where.padEnd(20)}${before} -> ${after} ${unit}`;
	return [
		`${symbol} on chain ${chainId}`,
		line("feed", feed.before, feed.after, "USD"),
		...pools.map((pool) =>
			line(`pool ${pool.against} ${pool.feePercent} %`, pool.before, pool.after, pool.against),
		),
	].join("\n");
}

function dataDirOf({ dataDir, port }: Options): string {
	return dataDir ? resolve(dataDir) : defaultDataDir(port);
}

/** Escapes a negative percentage, which would look like an option. */
function withNegativePercent(argv: string[]): string[] {
	return argv.map((argument) => (/^-\d/.test(argument) ? ` ${argument}` : argument));
}

function parsePort(text: string): number {
	const port = parseWholeNumber(text);
	if (port < 1 || port > 65_532) throw new InvalidArgumentError("must be a port from 1 to 65532.");
	return port;
}

function parseWholeNumber(text: string): number {
	if (!/^\d+$/.test(text)) throw new InvalidArgumentError("must be a whole number.");
	return Number(text);
}
