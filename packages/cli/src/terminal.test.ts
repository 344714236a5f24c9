import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeEach, expect, test } from "vitest";
import {
	makeEvmBuild,
	makeStatus,
	pending,
	recipient,
	refusal,
	startFakeService,
} from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";
import { hashOf, readConfig } from "./config.ts";
import { openQuestionFiles } from "./mcp/outside-approvals.ts";
import { shellCommand } from "./shell-command.ts";

// Runs the real program on a terminal of 80 columns, which util-linux's `script` creates.

const service = await startFakeService();
afterAll(() => service.close());
const { env, deployment } = makeHome();
await runCli(initArgs(service.baseUrl, deployment), { env });
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
		onStart,
	}: {
		variables?: Record<string, string>;
		onStart?: (type: (keys: string) => void) => void;
		onText?: (text: string, type: (keys: string) => void) => void;
	} = {},
): Promise<{ exit: number | null; raw: string; lines: string[] }> {
	const command = shellCommand(process.execPath, main, ...args);
	const { PATH, NODE_COMPILE_CACHE } = process.env;
	const child = spawn(
		"script",
		["--quiet", "--flush", "--return", "--command", `stty cols 80; exec ${command}`, "/dev/null"],
		{
			env: { PATH, NODE_COMPILE_CACHE, TERM: "xterm-256color", ...env, ...variables },
			stdio: ["pipe", "pipe", "inherit"],
		},
	);
	onStart?.((keys) => child.stdin.write(keys));
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

test("the output of a swap fits 80 columns, is in colour and has complete hashes", async () => {
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

test("NO_COLOR turns colours off", async () => {
	const { raw } = await onTerminal(swapArgs, { variables: { NO_COLOR: "1" } });
	expect(raw).not.toContain("\u001b[");
});

test("Ctrl-C leaves the swap running, reports that, and prints the command to resume it", async () => {
	let asked = 0;
	service.handlers["/swap/status"] = () => (asked++ === 0 ? { body: pending } : "hold");
	let isTyped = false;
	const { exit, lines } = await onTerminal([...swapArgs, "--id", "left"], {
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
	expect(text).toContain("next       geoswap swap --resume left\n");
});

test("Ctrl-C ends a request to the service with exit code 3", async () => {
	const { exit, lines } = await onTerminal(["chains", "--json"], {
		onStart: (type) => {
			service.handlers["/chains"] = () => {
				type("\u0003");
				return "hold";
			};
		},
	});
	expect(exit).toBe(3);
	expect(lines.join("\n")).toContain('"code": "INTERRUPTED"');
});

/** Makes the service quote less than 97 % between two stables. */
function quoteLow(): void {
	const quote = service.handlers["/swap/quote"];
	service.handlers["/swap/quote"] = (request) => {
		const answer = quote?.(request) as { body: object };
		return { body: { ...answer.body, output: "9600000", minOutput: "9600000" } };
	};
	service.handlers["/swap/build-geo-op"] = () => ({ body: makeEvmBuild({ minOutput: 9_600_000n }) });
}

test("a price below 97 % between stables is signed once the user accepts it", async () => {
	quoteLow();
	const { exit, lines } = await onTerminal(swapArgs, {
		onText: answering(["Sign for at least 9.6 USDC?", "y"]),
	});
	expect(exit).toBe(0);
	expect(lines.join("\n")).toMatch(/^status {5}settled$/m);
});

test("a price that the user rejects by Enter or Ctrl-C is not signed, and the command ends with exit code 3", async () => {
	for (const answer of [enter, "\u0003"]) {
		quoteLow();
		const { exit, lines } = await onTerminal(swapArgs, {
			onText: answering(["Sign for at least 9.6 USDC?", answer]),
		});
		expect(exit).toBe(3);
		expect(lines.join(" ")).toMatch(/you did\s+not accept it/);
		expect(service.seen.filter(({ path }) => path.startsWith("/swap/build"))).toEqual([]);
	}
});

test("a swap that a model has requested is approved on a terminal only, once, and by the user's yes", async () => {
	const files = openQuestionFiles(env.GEOSWAP_HOME ?? "");
	const ask = (nonce: string, minutes = 15) =>
		files.ask("mcp-rent", {
			version: 1,
			nonce,
			text: "Approve this swap?\nYou give at most 5 USDC\nRecipient 0x01",
			expiresAt: new Date(Date.now() + minutes * 60_000).toISOString(),
		});
	await ask("one");
	const unattended = await runCli(["approve", "rent"], { env });
	expect(unattended).toMatchObject({ exit: 2, stderr: expect.stringContaining("needs a terminal") });
	expect(await files.findAnswer("mcp-rent")).toBeUndefined();
	const { exit, lines } = await onTerminal(["approve", "rent"], {
		onText: answering(["Approve this swap?", "y"]),
	});
	expect([exit, lines.join("\n")]).toEqual([0, expect.stringContaining("You give at most 5 USDC")]);
	expect(await files.findAnswer("mcp-rent")).toEqual({ nonce: "one", approve: true });
	expect((await runCli(["approve", "rent", "--decline"], { env })).exit).toBe(2);
	await ask("two");
	const rejected = await onTerminal(["approve", "rent"], {
		onText: answering(["Approve this swap?", enter]),
	});
	expect(rejected.exit).toBe(3);
	expect(await files.findAnswer("mcp-rent")).toEqual({ nonce: "two", approve: false });
	await ask("three");
	expect((await runCli(["approve", "rent", "--decline"], { env })).exit).toBe(0);
	await ask("four", -1);
	expect((await runCli(["approve", "rent", "--decline"], { env })).exit).toBe(2);
	expect((await runCli(["approve", "never-asked", "--decline"], { env })).exit).toBe(2);
});

/** Types each answer once its question is shown. */
function answering(...answers: [question: string, keys: string][]) {
	const left = [...answers];
	let from = 0;
	return (text: string, type: (keys: string) => void) => {
		const [next] = left;
		const at = next ? text.indexOf(next[0], from) : -1;
		if (!next || at < 0) return;
		from = at + next[0].length;
		left.shift();
		type(next[1]);
	};
}

const enter = "\r";
const noKeychain = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent" };

test("init prompts for missing options, and writes pins after the user has confirmed their hash", async () => {
	const fresh = makeHome();
	const { exit, lines } = await onTerminal(["init"], {
		variables: { GEOSWAP_HOME: fresh.home },
		onText: answering(
			["What is the address of the service?", `${service.baseUrl}${enter}`],
			["deployment.json: a file", `${fresh.deployment}${enter}`],
			["that the operator published?", "y"],
		),
	});
	const text = lines.join("\n");
	expect(text).toContain(hashOf(readFileSync(fresh.deployment, "utf8")));
	expect(exit).toBe(0);
	expect(await readConfig({ env: fresh.env })).toMatchObject({ baseUrl: service.baseUrl });
});

test("init writes nothing if the user does not confirm the hash", async () => {
	const fresh = makeHome();
	const { exit } = await onTerminal(
		["init", "--base-url", service.baseUrl, "--deployment", fresh.deployment],
		{
			variables: { GEOSWAP_HOME: fresh.home },
			onText: answering(["that the operator published?", enter]),
		},
	);
	expect(exit).toBe(3);
	await expect(readConfig({ env: fresh.env })).rejects.toMatchObject({ code: "NOT_CONFIGURED" });
});

test("init does not show a typed key, and reports a missing keychain", async () => {
	const { exit, raw } = await onTerminal(["init"], {
		variables: { ...noKeychain, GEOSWAP_API_KEY: "" },
		onText: answering(["API key of the service (Enter: not now)", `typed-secret${enter}`]),
	});
	expect(exit).toBe(2);
	expect(raw).not.toContain("typed-secret");
	expect(stripVTControlCharacters(raw)).toContain("no usable keychain");
});
