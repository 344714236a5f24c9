import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatDeployment } from "@geoswap/protocol";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parseUnits } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newAgent } from "../caller/new-agent.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { launchChromium } from "../environment/launch-chromium.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const main = join(import.meta.dirname, "../../packages/cli/src/main.ts");

let environment: Environment;
let folder: string;
beforeAll(() => {
	environment = sharedEnvironment();
	folder = mkdtempSync(join(tmpdir(), "geoswap-mcp-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a model swaps through MCP on a devnet, where each approved swap settles once, and the budget holds over restarts and parallel calls", async () => {
	const { origin, destination, deployment } = environment;
	const deploymentFile = join(folder, "deployment.json");
	const text = formatDeployment(deployment);
	writeFileSync(deploymentFile, text);
	const { env, evmAddress } = await newAgent(environment, { folder, deploymentFile });
	const sha256 = `sha256:${createHash("sha256").update(text).digest("hex")}`;
	const init = ["init", "--base-url", environment.baseUrl, "--deployment", deploymentFile];
	await promisify(execFile)(process.execPath, [main, ...init, "--deployment-sha256", sha256], { env });
	const [from, to] = [`${origin.chainId}:USDC`, `${destination.chainId}:USDC`];
	const budget = join(folder, "budget.json");
	writeFileSync(
		budget,
		JSON.stringify({
			spend: [{ asset: from, perSwap: "10", perDay: "25" }],
			routes: [{ from, to, worstPrice: "0.9" }],
			recipients: ["self"],
		}),
		{ mode: 0o600 },
	);
	const questions: string[] = [];
	const connect = async (mode: "legacy" | { pin: string }, { canAsk = true } = {}) => {
		const client = new Client(
			{ name: "model", version: "1.0.0" },
			{ capabilities: canAsk ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode } },
		);
		if (canAsk)
			client.setRequestHandler("elicitation/create", async ({ params }) => {
				questions.push(params.message);
				return { action: "accept", content: { approve: true } };
			});
		const args = [main, "mcp", "--allow-swaps", "--budget", budget];
		const given = Object.entries(env).flatMap(([name, value]) =>
			value === undefined ? [] : [[name, value]],
		);
		const transport = new StdioClientTransport({
			command: process.execPath,
			args,
			env: Object.fromEntries(given),
			stderr: "pipe",
		});
		let told = "";
		transport.stderr?.on("data", (chunk: Buffer) => {
			told += chunk.toString();
		});
		await client.connect(transport);
		const call = async (name: string, given: Record<string, unknown>) =>
			(await client.callTool({ name, arguments: given })).structuredContent as Record<string, unknown>;
		return { call, told: () => told, close: () => client.close() };
	};
	const swapOf = (id: string) => ({ id, from, to, amount: "10" });

	const first = await connect({ pin: "2026-07-28" });
	expect(await first.call("get_chains", {})).toMatchObject({
		chains: expect.arrayContaining([expect.objectContaining({ chainId: origin.chainId, differs: [] })]),
	});
	expect(await first.call("swap", swapOf("one"))).toMatchObject({ swapId: expect.stringMatching(/^swp_/) });
	await first.close();

	// Another process, in the revision of 2025. It finds the swap, and the rest of the budget.
	const second = await connect("legacy");
	const repeated = await second.call("swap", swapOf("one"));
	expect(repeated).toMatchObject({ swapId: expect.stringMatching(/^swp_/) });
	const ids = ["two", "three", "four", "five"];
	const results = await Promise.all(ids.map((id) => second.call("swap", swapOf(id))));
	const made = results.filter(({ status }) => status !== "not_swapped");
	expect(made).toHaveLength(1);
	for (const id of ["one", String(made[0]?.id)]) {
		await expect
			.poll(() => second.call("get_swap", { id, waitSeconds: 5 }), { timeout: 120_000 })
			.toMatchObject({ status: "settled" });
	}
	expect(await second.call("get_budget", {})).toMatchObject({
		spend: [{ left: "5 USDC", leftUnits: "5000000" }],
	});
	expect(await second.call("get_history", {})).toMatchObject({
		swaps: [{ status: "settled" }, { status: "settled" }],
	});
	await second.close();

	// A client that cannot ask its user. The user declines in a browser, and approves an exact amount in a terminal.
	const asked = questions.length;
	const third = await connect("legacy", { canAsk: false });
	const unwanted = third.call("swap", { id: "invoice-6", from, to, receive: "4", slippageBps: 0 });
	const pageOf = () => /approve\s+(http:\S+)/.exec(third.told())?.[1] ?? "";
	await expect.poll(pageOf, { timeout: 60_000 }).toMatch(/^http:\/\/127\.0\.0\.1:/);
	expect(await declineInBrowser(pageOf())).toContain("Nothing is swapped");
	expect(await unwanted).toMatchObject({ status: "not_swapped", error: { code: "APPROVAL_DECLINED" } });
	const before = await tokenBalance(destination, assetAddress(destination, "USDC"), evmAddress);
	const exact = { id: "invoice-7", from, to, receive: "4", slippageBps: 0 };
	const called = third.call("swap", exact);
	await expect.poll(() => approveOnTerminal("invoice-7", env), { timeout: 60_000, interval: 500 }).toBe(0);
	expect(await called).toMatchObject({ status: expect.stringMatching(/^(submitted|settled)$/) });
	await expect
		.poll(() => third.call("get_swap", { id: "invoice-7", waitSeconds: 5 }), { timeout: 120_000 })
		.toMatchObject({ status: "settled", funds: { amount: "4 USDC" } });
	await third.close();
	const after = await tokenBalance(destination, assetAddress(destination, "USDC"), evmAddress);
	expect(after - before).toBe(parseUnits("4", 6));

	expect(questions).toHaveLength(asked);
	expect(questions[0]).toContain("at most 10 USDC");
	const held = (chain: Environment["origin"]) => tokenBalance(chain, assetAddress(chain, "USDC"), evmAddress);
	const spent = parseUnits("80", 6) - (await held(origin));
	expect(spent).toBeGreaterThan(parseUnits("4", 6));
	expect(spent).toBeLessThan(parseUnits("4.05", 6));
	expect(before).toBeGreaterThan(parseUnits("19.8", 6));
	expect(before).toBeLessThan(parseUnits("20", 6));
});

/** Opens the page, checks that it shows the terms, and declines. Returns what the page says then. */
async function declineInBrowser(url: string): Promise<string> {
	const browser = await launchChromium();
	try {
		const page = await browser.newPage();
		await page.goto(url);
		expect(await page.textContent("pre")).toContain("You get at least 4 USDC");
		await page.getByRole("button", { name: "Decline" }).click();
		return (await page.textContent("body")) ?? "";
	} finally {
		await browser.close();
	}
}

/** Runs the command on a terminal and types a yes. Returns its exit code. */
function approveOnTerminal(id: string, env: Record<string, string | undefined>): Promise<number | null> {
	const command = `stty cols 80; exec ${process.execPath} ${main} approve ${id}`;
	const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
		env: { TERM: "xterm-256color", ...env },
		stdio: ["pipe", "pipe", "ignore"],
	});
	let shown = "";
	child.stdout.on("data", (chunk: Buffer) => {
		const isAsked = shown.includes("Approve this swap?");
		shown += chunk.toString();
		if (!isAsked && shown.includes("Approve this swap?")) child.stdin.write("y");
	});
	return new Promise((resolve) => child.on("close", resolve));
}
