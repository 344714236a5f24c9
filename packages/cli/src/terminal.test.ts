import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeEach, expect, test } from "vitest";
import { makeStatus, pending, recipient, refusal, startFakeService, swapId } from "../test/fake-service.ts";
import { makeHome, runCli } from "../test/run-cli.ts";
import { shellWord } from "./shell-word.ts";

// The real program on a terminal of 80 columns, which `script` of util-linux makes.

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(["init", "--base-url", service.baseUrl, "--deployment", deployment], { env });
beforeEach(() => service.reset());

const main = join(import.meta.dirname, "main.ts");
const swapArgs = [
	...["swap", "--from", "31337:USDC", "--to", "31338:USDC", "--amount", "10"],
	...["--recipient", recipient, "--slippage-bps", "50"],
];

async function onTerminal(
	args: string[],
	{
		variables = {},
		onText,
	}: {
		variables?: Record<string, string>;
		onText?: (text: string, type: (keys: string) => void) => void;
	} = {},
): Promise<{ exit: number | null; raw: string; lines: string[] }> {
	const command = [process.execPath, main, ...args].map(shellWord).join(" ");
	const child = spawn(
		"script",
		["--quiet", "--flush", "--return", "--command", `stty cols 80; exec ${command}`, "/dev/null"],
		{
			env: { PATH: process.env.PATH, TERM: "xterm-256color", ...env, ...variables },
			stdio: ["pipe", "pipe", "inherit"],
		},
	);
	let raw = "";
	child.stdout.on("data", (chunk: Buffer) => {
		raw += chunk.toString();
		onText?.(raw, (keys) => child.stdin.write(keys));
	});
	const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
	return { exit, raw, lines: stripVTControlCharacters(raw).split(/\r?\n/) };
}

function expectFits(lines: string[]): void {
	expect(lines.filter((line) => line.length > 80)).toEqual([]);
}

test("a swap fits 80 columns and is in colour, and its hashes are whole", async () => {
	const hash = "5".repeat(88);
	service.handlers["/swap/status"] = () => ({ body: makeStatus({ deliveryTxHash: hash }) });
	const { exit, raw, lines } = await onTerminal(swapArgs);
	expect(exit).toBe(0);
	expectFits(lines);
	expect(raw).toContain("\u001b[32m");
	expect(lines.map((line) => line.trim()).join("")).toContain(hash);
	expect(lines.join("\n")).toMatch(/^status {5}settled$/m);
});

test("an error with a long message fits 80 columns", async () => {
	service.handlers["/swap/quote"] = () => refusal(422, "NO_ROUTE", `${"word ".repeat(60)}${"x".repeat(200)}`);
	const { exit, lines } = await onTerminal(swapArgs);
	expect(exit).toBe(3);
	expectFits(lines);
});

test("lists and help fit 80 columns", async () => {
	for (const args of [["tokens"], ["history"], ["swap", "--help"]]) {
		const { exit, lines } = await onTerminal(args);
		expect(exit).toBe(0);
		expectFits(lines);
	}
});

test("NO_COLOR is heeded", async () => {
	const { raw } = await onTerminal(swapArgs, { variables: { NO_COLOR: "1" } });
	expect(raw).not.toContain("\u001b[");
});

test("Ctrl-C leaves the swap running, says so, and names the command that follows it", async () => {
	let asked = 0;
	service.handlers["/swap/status"] = () => (asked++ === 0 ? { body: pending } : "hold");
	let isTyped = false;
	const { exit, lines } = await onTerminal(swapArgs, {
		onText: (text, type) => {
			if (isTyped || !text.includes("deposited")) return;
			isTyped = true;
			type("\u0003");
		},
	});
	expect(exit).toBe(5);
	expectFits(lines);
	const text = lines.join("\n");
	expect(text).toContain("Interrupted. The swap goes on without this program.");
	expect(text).toContain(`next       geoswap status ${swapId}\n`);
});
