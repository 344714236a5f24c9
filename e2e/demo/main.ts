import { defaultStackPort } from "@geoswap/devnet";
import type { DemoStep } from "./demo-steps.ts";
import { openStack, readOptions, stackOptions } from "./open-stack.ts";
import { runDemo } from "./run-demo.ts";
import { runSolanaDemo } from "./run-solana-demo.ts";

const help = `Usage: pnpm demo [options]

A new wallet without one wei swaps 100 USDC to another chain, on the stack that \`pnpm start\` started.

  --port <number>    the stack's port (default: ${defaultStackPort})
  --data-dir <path>  the stack's folder, if it was started with --data-dir
  --wait <seconds>   how long to wait for a stack that still starts (default: 0)
  --solana           to a new wallet on Solana, and from there back
  --json             print the result as JSON on stdout, the steps on stderr
  --help             show this help

Exit codes: 0 the swap settled (with --solana, both swaps), 1 it did not, 2 no stack is running.`;

const values = readOptions(help, { ...stackOptions, solana: { type: "boolean" } });
const { stack } = await openStack(help, values);
const say = values.json ? console.error : console.log;
try {
	const tell = ({ elapsedMs, what }: DemoStep) =>
		say(`${(elapsedMs / 1_000).toFixed(2).padStart(7)} s  ${what}`);
	const result = values.solana ? await runSolanaDemo(stack, tell) : await runDemo(stack, tell);
	if (values.json)
		console.log(JSON.stringify(result, (_, value) => (typeof value === "bigint" ? String(value) : value)));
	const last = "swap" in result ? result.swap : result.back;
	process.exitCode = last?.status === "settled" ? 0 : 1;
} catch (error) {
	console.error(`error: ${(error as Error).message}`);
	process.exitCode = 1;
}
