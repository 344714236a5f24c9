import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// Each command is a separate process. All of them start at the same time, beside any other load of the machine.
vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "geoswap-main-"));
const config = join(folder, "config.json");
const nowhere = "http://user:password@127.0.0.1:9/a-key";
beforeAll(async () => {
	const { deployment, stop } = await startTestChains();
	await stop();
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
	const pace = { finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
	writeFileSync(
		config,
		JSON.stringify({
			deployment: "deployment.json",
			chains: { 31337: { nodes: [{ url: nowhere }], ...pace } },
			api: { port: 0 },
			worker: { port: 0, publicUrl: "http://worker:9080" },
			restate: {
				ingressUrl: "http://a:1",
				adminUrl: "http://a:2",
				identityKeys: ["publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx"],
			},
		}),
	);
});
afterAll(() => rmSync(folder, { recursive: true }));

type Outcome = { code: number; stdout: string; stderr: string };
function run(...args: string[]): Promise<Outcome> {
	const env = {
		PATH: process.env.PATH,
		NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
		DATABASE_URL: "postgres://user:password@127.0.0.1:9/x",
		API_DATABASE_URL: "postgres://user:password@127.0.0.1:9/x",
		AUDITOR_DATABASE_URL: "postgres://user:password@127.0.0.1:9/x",
		GEOSWAP_API_KEY_PEPPER: "short",
		GEOSWAP_SEAL_KEYS: `a:${"A".repeat(42)}B`,
	};
	return new Promise((resolve) => {
		const main = join(import.meta.dirname, "main.ts");
		const child = execFile(process.execPath, [main, ...args], { env }, (_, stdout, stderr) =>
			resolve({ code: child.exitCode ?? -1, stdout, stderr }),
		);
	});
}

test.concurrent.each<[string[], string]>([
	[["restored", "--config", "x"], "unknown option '--config'"],
	[["keys", "create"], "required option '--account"],
	[["keys", "create", "--account", "a", "--rate", "quote"], '--rate: "quote" is not a rate'],
	[["keys", "create", "--account", "a"], "GEOSWAP_API_KEY_PEPPER: has fewer than 32 characters"],
	[["api", "--config", "nowhere.json"], "nowhere.json: ENOENT"],
	[
		["migrate", "--config", config, "--passwords"],
		"API_DATABASE_URL: must have the login geoswap_api and a password, for --passwords",
	],
	[["worker", "--config", config, "--url", "worker:9080"], "worker:9080 is not of the form http://host:port"],
	[["health", "engine"], "command-argument value 'engine' is invalid"],
	[["api", "--config", config], "GEOSWAP_SEAL_KEYS: a seal key must be"],
])("an error that the user can fix is one sentence with exit code 2: geoswapd %s", async (args, sentence) => {
	const { code, stdout, stderr } = await run(...args);
	expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	expect(stderr).toContain(sentence);
	expect(stderr).not.toContain("    at ");
});

test.concurrent("neither the printed configuration nor errors contain a key", async () => {
	const [printed, failed, unchecked] = await Promise.all([
		run("config", "print", "--config", config),
		run("keys", "list"),
		run("reconcile", "--config", config),
	]);
	expect(printed.code).toBe(0);
	expect(JSON.parse(printed.stdout)).toMatchObject({
		chains: [{ nodes: [{ url: "http://***@127.0.0.1:9/***" }] }],
		worker: { publicUrl: "http://worker:9080" },
	});
	expect([failed.code, unchecked.code]).toEqual([1, 3]);
	expect(unchecked.stderr).toContain("could not be audited");
	for (const { stdout, stderr } of [printed, failed, unchecked]) {
		expect(stdout + stderr).not.toMatch(/a-key|password/);
	}
});
