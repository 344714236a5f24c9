import { Command, CommanderError } from "commander";
import { formatUnits, http, size } from "viem";
import { readDeployConfig } from "./deploy-config.ts";
import { deployContracts, planContracts, type StepReport } from "./deploy-contracts.ts";
import { DeployError } from "./deploy-error.ts";
import { deployerAccount } from "./deployer-account.ts";
import { expectWritable, readDeploymentFile, updateDeploymentFile } from "./deployment-file.ts";
import type { FeedReading } from "./read-feeds.ts";

const failed = 1;
const wrongInput = 2;

type Options = { config: string; out?: string; dryRun?: boolean; replace?: boolean; json?: boolean };

const program = new Command("deploy-contracts")
	.description("Deploys Geoswap's contracts to one chain, wires their roles and records the result.")
	.requiredOption(
		"--config <file>",
		"config file: contracts, roles and assets; see contracts/deploy/README.md",
	)
	.option("--out <file>", "deployment file; this chain's entry is added or updated")
	.option("--dry-run", "read the chain and print what would be done; send nothing")
	.option("--replace", "replace contracts that the file lists; they stay listed as earlier ones")
	.option("--json", "print the result as JSON on stdout, progress on stderr")
	.addHelpText(
		"after",
		`
Environment:
  RPC_URL               a node of the chain
  DEPLOYER_PRIVATE_KEY  the deployer's key: pays for gas, and is admin until the last step

After an interruption, run it again: it reads from the chain which steps are done, and skips them.

Exit codes: 0 the chain matches the config, 1 a check or a step failed, 2 wrong options, environment or config`,
	)
	.allowExcessArguments(false)
	.exitOverride();

process.exitCode = await run();

async function run(): Promise<number> {
	let input: ReturnType<typeof readInput>;
	try {
		input = readInput(program.parse().opts<Options>());
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongInput;
		return report(error, wrongInput);
	}
	try {
		await deploy(input);
		return 0;
	} catch (error) {
		return report(error, failed);
	}
}

function readInput(options: Options) {
	const { RPC_URL: rpcUrl, DEPLOYER_PRIVATE_KEY: key } = process.env;
	if (!options.out && !options.dryRun) {
		throw new DeployError("no --out", { next: "name the deployment file with --out, or use --dry-run" });
	}
	const config = readDeployConfig(options.config);
	if (!rpcUrl) {
		throw new DeployError("RPC_URL is not set", { next: `set it to a node of chain ${config.chainId}` });
	}
	const account = deployerAccount(key);
	// The file is read before anything is sent, so that a file that cannot be read or updated is noticed in time.
	const { chains } = options.out ? readDeploymentFile(options.out) : { chains: [] };
	if (options.out) expectWritable(options.out);
	const earlier = chains.find(({ chainId }) => chainId === config.chainId);
	return { options, config, earlier, transport: http(rpcUrl), account };
}

async function deploy({
	options,
	config,
	earlier,
	transport,
	account,
}: ReturnType<typeof readInput>): Promise<void> {
	const say = options.json ? console.error : console.log;
	const reports: StepReport[] = [];
	const onStep = (stepReport: StepReport) => {
		reports.push(stepReport);
		say(describe(stepReport, options.dryRun === true));
	};
	const feeds: FeedReading[] = [];
	const onFeed = (reading: FeedReading) => {
		feeds.push(reading);
		say(describeFeed(reading));
	};
	const { replace } = options;
	const common = { transport, account, config, earlier, replace, onStep, onFeed };
	say(`${config.name} (chain ${config.chainId}), deployer ${account.address}`);

	if (options.dryRun) {
		const contracts = await planContracts(common);
		const open = reports.filter(({ outcome }) => outcome === "would do").length;
		say(`nothing was sent; ${open} of ${reports.length} steps would be done`);
		if (options.json)
			console.log(JSON.stringify({ contracts, feeds: feeds.map(feedSummary), steps: reports.map(summary) }));
		return;
	}
	const result = await deployContracts(common);
	const deployment = options.out ? updateDeploymentFile(options.out, result) : result;
	say(`the chain matches the config; recorded in ${options.out}`);
	if (options.json) console.log(JSON.stringify({ deployment, steps: reports.map(summary) }));
}

function describe({ step, outcome, hash }: StepReport, isDryRun: boolean): string {
	const where = step.creates ? ` at ${step.creates}` : "";
	const line = `${outcome.padEnd(13)} ${step.name}${where}`;
	if (hash) return `${line}, transaction ${hash}`;
	if (!isDryRun) return line;
	return `${line}\n${"".padEnd(13)}   call ${step.to} with ${step.data.slice(0, 10)}... (${size(step.data)} bytes)`;
}

function describeFeed(reading: FeedReading): string {
	const { symbol, description, price } = feedSummary(reading);
	return `the feed of ${symbol} is "${description}" and says ${price}`;
}

function feedSummary({ symbol, description, answer, decimals }: FeedReading) {
	return { symbol, description, price: formatUnits(answer, decimals) };
}

function summary({ step, outcome, hash }: StepReport) {
	const { name, to, creates, data } = step;
	return { name, outcome, to, creates, data, hash };
}

function report(error: unknown, exitCode: number): number {
	if (error instanceof DeployError) {
		console.error(`error: ${error.message}\nnext: ${error.next}`);
	} else {
		// viem's long message names the endpoint, which may hold a key.
		console.error(`error: ${(error as { shortMessage?: string }).shortMessage ?? (error as Error).message}`);
		console.error("next: run again; steps that are done are not repeated");
	}
	return exitCode;
}
