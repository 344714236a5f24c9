import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { defaultStackPort, readStackFile, stackDataDir } from "@geoswap/devnet";
import type { DemoStep } from "./demo-steps.ts";
import { runDemo } from "./run-demo.ts";
import { runSolanaDemo } from "./run-solana-demo.ts";

const help = `Usage: pnpm demo [options]

A new wallet without one wei swaps 100 USDC to another chain, on the stack that \`pnpm start\` started.

  --port <number>    the stack's port (default: ${defaultStackPort})
  --data-dir <path>  the stack's folder, where it was started with one
  --solana           to a new wallet on Solana, and from there back
  --json             print the result as JSON on stdout, the steps on stderr
  --help             this

Exits 0 when the swap settled (with --solana, both), 1 when it did not, 2 when no stack runs.`;

const { values } = parseOptions();
if (values.help) {
	console.log(help);
	process.exit(0);
}
const dataDir = values["data-dir"]
	? resolve(values["data-dir"])
	: stackDataDir(values.port ? Number(values.port) : undefined);
const stack = readStackFile(dataDir);
if (!stack) {
	console.error("error: no stack runs: start one with `pnpm start` in another terminal");
	process.exit(2);
}
const say = values.json ? console.error : console.log;
try {
	const tell = ({ elapsedMs, what }: DemoStep) =>
		say(`${(elapsedMs / 1_000).toFixed(2).padStart(7)} s  ${what}`);
	const result = values.solana ? await runSolanaDemo(stack, tell) : await runDemo(stack, tell);
	if (values.json) console.log(JSON.stringify(result));
	const last = "swap" in result ? result.swap : result.back;
	process.exitCode = last?.status === "settled" ? 0 : 1;
} catch (error) {
	console.error(`error: ${(error as Error).message}`);
	process.exitCode = 1;
}

function parseOptions() {
	try {
		return parseArgs({
			options: {
				port: { type: "string" },
				"data-dir": { type: "string" },
				solana: { type: "boolean" },
				json: { type: "boolean" },
				help: { type: "boolean", short: "h" },
			},
		});
	} catch (error) {
		console.error(`error: ${(error as Error).message}\n\n${help}`);
		process.exit(2);
	}
}
