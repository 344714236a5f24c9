import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";

const main = join(import.meta.dirname, "../main.ts");
const folder = mkdtempSync(join(tmpdir(), "geoswap-run-shadow-"));
/** No secrets, no database, no engine. */
const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains({ automine: false });
	writeFileSync(join(folder, "deployment.json"), formatDeployment(chains.deployment));
	const terms = {
		depths: [{ upToUsd: 1_000_000, blocks: 1 }],
		finalitySeconds: 5,
		openSeconds: 75,
		fillSeconds: 45,
		refundSeconds: 30,
		pollMs: 200,
	};
	writeFileSync(
		join(folder, "config.json"),
		JSON.stringify({
			deployment: "deployment.json",
			chains: Object.fromEntries(
				[chains.origin, chains.destination].map(({ chainId, rpcUrl }) => [
					chainId,
					{ nodes: [{ url: rpcUrl }], ...terms, onlyAccounts: [] },
				]),
			),
			attesters: chains.origin.deployment.attesterSet.attesters.map((_, i) => ({
				url: `http://127.0.0.1:${i + 1}`,
			})),
			api: { port: 0 },
			worker: { port: 0 },
			restate: { ingressUrl: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:1" },
		}),
	);
});
afterAll(async () => {
	await chains.stop();
	rmSync(folder, { recursive: true });
});

test("against real chains that are not offered yet, without a key or a service, it fills swaps on paper; when stopped, it reports, and its journal ends with the report", async () => {
	const journal = join(folder, "day.jsonl");
	const report = join(folder, "report.md");
	const child = spawn(
		process.execPath,
		[
			...[main, "shadow", "--config", join(folder, "config.json"), "--journal", journal, "--report", report],
			...["--generate", "1", "--per-hour", "14400", "--accept-seconds", "0", "--json"],
		],
		{ env },
	);
	let [stdout, stderr] = ["", ""];
	child.stdout.on("data", (text) => {
		stdout += text;
	});
	child.stderr.on("data", (text) => {
		stderr += text;
	});
	const exited = once(child, "exit");
	try {
		await expect
			.poll(
				() => (existsSync(journal) ? readFileSync(journal, "utf8").match(/"kind":"filled"/g)?.length : 0),
				{
					timeout: 90_000,
				},
			)
			.toBeGreaterThan(5);
		child.kill("SIGTERM");
		expect(await exited, stderr).toEqual([0, null]);
	} finally {
		child.kill("SIGKILL");
	}
	const said = JSON.parse(stdout);
	expect(said.filled).toBeGreaterThan(5);
	// The vaults of these chains can do everything that the paper vaults do, but swaps within one chain are not
	// simulated.
	const { succeeded, failed, notSimulated } = said.simulations;
	const outcomes = readFileSync(journal, "utf8").match(/"kind":"simulated".*/g);
	expect(failed, outcomes?.join("\n")).toBe(0);
	expect(succeeded).toBeGreaterThan(0);
	expect(succeeded + notSimulated).toBe(said.filled);
	expect(said.source).toBe("Prices of live chains, requests made up from the seed 1, 14400 per hour.");
	expect(readFileSync(report, "utf8")).toContain("Nothing was signed or sent");
	const last = JSON.parse(readFileSync(journal, "utf8").trimEnd().split("\n").at(-1) ?? "");
	expect(last).toMatchObject({ kind: "end", report: { netE18: `${said.netE18}n` } });
}, 120_000);
