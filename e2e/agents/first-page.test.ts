import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatDeployment, solanaChainId } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readmeBlocks } from "../caller/first-page.ts";
import { type Agent, newAgent as newAgentOf } from "../caller/new-agent.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);
const hundred = parseUnits("100", 6);

let environment: Environment;
let folder: string;
let deploymentFile: string;
beforeAll(() => {
	environment = sharedEnvironment();
	folder = mkdtempSync(join(tmpdir(), "geoswap-agent-"));
	deploymentFile = join(folder, "deployment.json");
	writeFileSync(deploymentFile, formatDeployment(environment.deployment));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newAgent = () => newAgentOf(environment, { folder, deploymentFile });

function usdcOf(chain: Environment["origin"], owner: Hex): Promise<bigint> {
	return tokenBalance(chain, assetAddress(chain, "USDC"), owner);
}

describe.concurrent("the README's first page", () => {
	test("has a command that swaps without changes", async () => {
		const { env, evmAddress } = await newAgent();
		const block = readmeBlocks().find(({ code }) => code.includes("pnpm geoswap swap"));
		// The tests' stack is already running, and the wallet exists.
		const lines = block?.code.split("\n").filter((line) => !line.startsWith("eval ")) ?? [];
		const { stdout } = await run("bash", ["-euc", lines.join("\n")], { cwd: root, env });
		expect(stdout).toContain("settled");
		expect(await usdcOf(environment.origin, evmAddress)).toBe(parseUnits("60", 6));
		expect(await usdcOf(environment.destination, evmAddress)).toBeGreaterThan(parseUnits("39", 6));
	});

	test("has ten lines of the SDK or less that swap without changes", async () => {
		const { env, evmAddress } = await newAgent();
		const block = readmeBlocks().find(({ language }) => language === "ts");
		const code = block?.code ?? "";
		expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
		const file = join(root, "examples", `.first-page-${process.pid}.ts`);
		writeFileSync(file, code);
		try {
			const { stdout } = await run("node", [file], { cwd: root, env });
			expect(stdout.trim()).toBe("settled");
		} finally {
			rmSync(file);
		}
		expect(await usdcOf(environment.origin, evmAddress)).toBe(parseUnits("60", 6));
	});
});

describe.concurrent("examples", () => {
	/** Modules of the programs, and programs with their own tests. */
	const others = [
		"environment.ts",
		"scripted-model.ts",
		"resume-after-a-crash.ts",
		"ai-agent.ts",
		"pay-x402.ts",
	];
	const programs = readdirSync(join(root, "examples")).filter(
		(name) => /^[a-z].*\.ts$/.test(name) && !others.includes(name),
	);

	test.each(programs)("%s runs unchanged, and its swap settles", async (name) => {
		const { env } = await newAgent();
		const { stdout } = await run("node", [join("examples", name)], { cwd: root, env });
		expect(stdout).toMatch(/^settled 0x/);
	});

	test("resume-after-a-crash.ts is killed in the middle, resumes, and makes one swap", async () => {
		const { env, evmAddress } = await newAgent();
		const store = join(folder, "crash");
		const program = ["examples/resume-after-a-crash.ts", "rent", store];
		await expect(run("node", [...program, "--die"], { cwd: root, env })).rejects.toMatchObject({
			signal: "SIGKILL",
		});
		const { stdout } = await run("node", program, { cwd: root, env });
		expect(stdout).toMatch(/^settled swp_/);
		// A second run reports the outcome, and swaps nothing.
		expect((await run("node", program, { cwd: root, env })).stdout).toBe(stdout);
		expect(await usdcOf(environment.origin, evmAddress)).toBe(parseUnits("90", 6));
	});
});

describe.concurrent("the geoswap command", () => {
	type Outcome = { code: number; json: Record<string, unknown>; stderr: string };
	const geoswap = async ({ env }: Agent, ...args: string[]): Promise<Outcome> => {
		const { stdout, stderr, code } = await run("node", ["packages/cli/src/main.ts", ...args, "--json"], {
			cwd: root,
			env,
		}).then(
			(done) => ({ ...done, code: 0 }),
			(error: { stdout: string; stderr: string; code: number }) => error,
		);
		return { code, stderr, json: JSON.parse(stdout) };
	};
	const ready = async (): Promise<Agent> => {
		const agent = await newAgent();
		const { origin, destination, solana } = environment;
		const { stdout } = await run("sha256sum", [deploymentFile]);
		const rpcs = [origin, destination, solana].flatMap(({ chainId, rpcUrl }) => [
			"--rpc",
			`${chainId}=${rpcUrl}`,
		]);
		const { code } = await geoswap(
			...([agent, "init", "--base-url", environment.baseUrl, "--deployment", deploymentFile] as const),
			...["--deployment-sha256", `sha256:${stdout.slice(0, 64)}`, ...rpcs],
		);
		expect(code).toBe(0);
		return agent;
	};
	/** The agent of the tests that change nothing. */
	let idle: Promise<Agent> | undefined;
	const names = () => ({
		one: String(environment.origin.chainId),
		two: String(environment.destination.chainId),
		solana: String(solanaChainId),
	});

	test("swaps from an EVM chain and from Solana, makes one swap per id, and lists them afterwards", async () => {
		const agent = await ready();
		const { one, two, solana } = names();
		const there = ["swap", "--from", `${one}:USDC`, "--to", `${two}:USDC`, "--amount", "25", "--id", "there"];
		const first = await geoswap(agent, ...there);
		expect([first.code, first.json]).toMatchObject([0, { swap: { status: "settled" } }]);
		expect((await geoswap(agent, ...there)).json).toMatchObject({ swap: first.json.swap });
		expect(await usdcOf(environment.origin, agent.evmAddress)).toBe(parseUnits("75", 6));

		const back = await geoswap(
			...([agent, "swap", "--from", `${solana}:USDC`, "--to", `${two}:USDC`] as const),
			...["--amount", "max", "--min-out", "99"],
		);
		expect([back.code, back.json]).toMatchObject([0, { swap: { status: "settled" } }]);
		const receive = ["swap", "--from", `${one}:USDC`, "--to", `${two}:USDC`, "--receive", "10"];
		const before = await usdcOf(environment.destination, agent.evmAddress);
		expect((await geoswap(agent, ...receive, "--max-spend", "10")).json).toMatchObject({
			error: { code: "ABOVE_MAX_INPUT" },
		});
		const exact = await geoswap(agent, ...receive, "--slippage-bps", "0");
		expect([exact.code, exact.json]).toMatchObject([0, { swap: { status: "settled" } }]);
		expect((await usdcOf(environment.destination, agent.evmAddress)) - before).toBe(parseUnits("10", 6));
		const { swapId } = first.json.swap as { swapId: string };
		expect((await geoswap(agent, "status", swapId)).json).toMatchObject({ swap: { status: "settled" } });
		expect((await geoswap(agent, "history")).json).toMatchObject({ swaps: [{}, {}, { swapId }] });
		expect((await geoswap(agent, "balance", two)).code).toBe(0);
		expect((await geoswap(agent, "delegation", one)).json).toMatchObject({ ready: true });
		for (const list of ["chains", "tokens"]) expect((await geoswap(agent, list)).code).toBe(0);
	});

	test("verifies in a dry run from Solana the transaction that it would sign, and makes no swap", async () => {
		idle ??= ready();
		const agent = await idle;
		const { two, solana } = names();
		const swap = ["swap", "--from", `${solana}:USDC`, "--to", `${two}:USDC`, "--amount", "50", "--dry-run"];
		const { code, json } = await geoswap(agent, ...swap);
		expect([code, json]).toMatchObject([0, { verified: true }]);
		expect((await geoswap(agent, "history")).json).toMatchObject({ swaps: [] });
	});

	test.each([
		["more than the wallet holds", 3, "INSUFFICIENT_BALANCE", ["--from", "ONE:USDC", "--amount", "500"]],
		[
			"an output below the minimum",
			3,
			"BELOW_MIN_OUTPUT",
			["--from", "ONE:USDC", "--amount", "5", "--min-out", "6"],
		],
	])("refuses %s with one JSON document, and takes nothing", async (_, exit, error, args) => {
		idle ??= ready();
		const agent = await idle;
		const { one, two } = names();
		const { code, json } = await geoswap(
			...([agent, "swap", "--to", `${two}:USDC`] as const),
			...args.map((arg) => arg.replace("ONE", one)),
		);
		expect([code, json]).toMatchObject([exit, { error: { code: error, docs: expect.any(String) } }]);
		expect(await usdcOf(environment.origin, agent.evmAddress)).toBe(hundred);
	});
});
