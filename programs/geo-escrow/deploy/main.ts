import { readFileSync, renameSync, writeFileSync } from "node:fs";
import {
	deploymentSchema,
	formatDeployment,
	plannedSolanaSchema,
	solanaAddressSchema,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, isSolanaError, type KeyPairSigner } from "@solana/kit";
import { Command, CommanderError } from "commander";
import { programFile } from "../program-file.ts";
import { connectCluster } from "./cluster.ts";
import { readDeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { deployProgram, type StepReport } from "./deploy-program.ts";

const failed = 1;
const wrongInput = 2;
const waitsForSomeone = 3;

/** A deployment file whose entry for Solana may lack the program. */
const fileSchema = deploymentSchema.extend({ solana: plannedSolanaSchema.exactOptional() });

type Options = {
	config: string;
	out: string;
	programKey?: string;
	program?: string;
	code: string;
	computePrice: string;
	replace?: boolean;
	dryRun?: boolean;
	json?: boolean;
};

const command = new Command("deploy-program")
	.description(
		"Deploys the Solana program to one cluster, creates its vault, and hands both to their owners.",
	)
	.requiredOption("--config <file>", "roles and caps; see programs/geo-escrow/deploy/README.md")
	.requiredOption("--out <file>", "deployment file with an entry for Solana; the program is added to it")
	.option(
		"--program-key <file>",
		"key of the program's address, as solana-keygen writes it; for the first run",
	)
	.option("--program <address>", "the program's address, if its key is not here")
	.option("--code <file>", "the built program", programFile)
	.option("--compute-price <number>", "micro-lamports per compute unit", "10000")
	.option("--replace", "let this program and its vault take the place of those that the file lists")
	.option("--dry-run", "read the chain and print what would be done; send nothing")
	.option("--json", "print the result as JSON on stdout, progress on stderr")
	.addHelpText(
		"after",
		`
Environment:
  RPC_URL             a node of the cluster
  DEPLOYER_KEY_FILE   the deployer's key, as solana-keygen writes it: pays, and owns program and vault until the end

After an interruption, run it again: it reads from the chain which steps are done, and skips them.

Exit codes: 0 the chain matches the configuration, 1 a check or a step failed, 2 wrong options, environment or files, 3 someone has to do
something first, such as accept the vault`,
	)
	.allowExcessArguments(false)
	.exitOverride();

process.exitCode = await run();

async function run(): Promise<number> {
	let input: Awaited<ReturnType<typeof readInput>>;
	try {
		input = await readInput(command.parse().opts<Options>());
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : wrongInput;
		return report(error, wrongInput);
	}
	try {
		return await deploy(input);
	} catch (error) {
		return report(error, failed);
	}
}

async function readInput(options: Options) {
	const { RPC_URL: rpcUrl, DEPLOYER_KEY_FILE: keyFile } = process.env;
	// The address is not shown, because it may hold a key.
	const { protocol, username } = URL.canParse(rpcUrl ?? "") ? new URL(rpcUrl ?? "") : {};
	if (!rpcUrl || !/^https?:$/.test(protocol ?? "") || username) {
		throw new DeployError("RPC_URL is not set, or not an http address without a user", {
			next: "set it to a node of the cluster, such as https://rpc.example",
		});
	}
	if (!keyFile) {
		throw new DeployError("DEPLOYER_KEY_FILE is not set", {
			next: "set it to a file that solana-keygen new has written",
		});
	}
	const deployer = await readKey(keyFile);
	const programKey = options.programKey === undefined ? undefined : await readKey(options.programKey);
	const program = programKey?.address ?? solanaAddressSchema.safeParse(options.program).data;
	if (!program) {
		throw new DeployError("the program's address is unknown", {
			next: "name its key with --program-key or, after the first run, its address with --program",
		});
	}
	if (!/^\d{1,9}$/.test(options.computePrice)) {
		throw new DeployError("--compute-price is not a number", { next: "give it in micro-lamports" });
	}
	const deployment = readDeployment(options.out);
	const config = readDeployConfig(options.config);
	const code = new Uint8Array(readFileSync(options.code));
	return { options, rpcUrl, deployer, programKey, program, config, deployment, code };
}

async function deploy({
	options,
	rpcUrl,
	deployment,
	...given
}: Awaited<ReturnType<typeof readInput>>): Promise<number> {
	const say = options.json ? console.error : console.log;
	const steps: StepReport[] = [];
	const cluster = await connectCluster({
		rpcUrl,
		payer: given.deployer,
		microLamportsPerUnit: BigInt(options.computePrice),
	});
	say(`program ${given.program} on ${cluster.genesisHash}, deployer ${given.deployer.address}`);
	const isDryRun = options.dryRun ?? false;
	const { entry: program, waiting } = await deployProgram({
		...given,
		cluster,
		solana: deployment.solana,
		isDryRun,
		isReplacing: options.replace ?? false,
		onStep: (step) => {
			steps.push(step);
			say(`${step.outcome.padEnd(9)} ${step.name}`);
		},
	});
	if (isDryRun) {
		const open = steps.filter(({ outcome }) => outcome === "would do").length;
		say(`nothing was sent; ${open} of ${steps.length} steps would be done`);
	} else {
		writeDeployment(options.out, { ...deployment, solana: { ...deployment.solana, program } });
		say(`the cluster matches the configuration; recorded in ${options.out}`);
		say(`list ${given.program} in known-programs.json, so that no other cluster gets it`);
	}
	for (const line of waiting) say(`next: ${line}`);
	if (options.json) console.log(JSON.stringify({ program, steps, waiting }));
	return waiting.length > 0 ? waitsForSomeone : 0;
}

async function readKey(path: string): Promise<KeyPairSigner> {
	try {
		return await createKeyPairSignerFromBytes(Uint8Array.from(JSON.parse(readFileSync(path, "utf8"))));
	} catch (cause) {
		// The cause is not shown, because it may quote the file.
		throw new DeployError(`${path} is not a key file`, {
			next: "use a file that solana-keygen new has written: an array of 64 numbers",
			cause,
		});
	}
}

function readDeployment(path: string) {
	const next = "name the deployment file that has the cluster's fee payers and assets";
	try {
		const { solana, ...others } = fileSchema.parse(JSON.parse(readFileSync(path, "utf8")));
		if (solana) return { ...others, solana };
	} catch (cause) {
		throw new DeployError(`${path} is not a deployment file: ${(cause as Error).message}`, { next, cause });
	}
	throw new DeployError(`${path} has no entry for Solana`, { next });
}

function writeDeployment(path: string, deployment: Parameters<typeof formatDeployment>[0]): void {
	// A reader gets the old file or the new one, never half of it.
	const unfinished = `${path}.${process.pid}.unfinished`;
	writeFileSync(unfinished, formatDeployment(deployment));
	renameSync(unfinished, path);
}

function report(error: unknown, exitCode: number): number {
	if (error instanceof DeployError) {
		console.error(`error: ${error.message}\nnext: ${error.next}`);
	} else {
		// Only kit's messages are shown, because another error may contain the endpoint's URL, which may hold a key.
		console.error(`error: ${isSolanaError(error) ? error.message : "the node does not answer"}`);
		console.error("next: run again; steps that are done are not repeated");
	}
	return exitCode;
}
