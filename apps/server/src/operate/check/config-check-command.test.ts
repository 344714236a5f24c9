import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createTestDatabase } from "../../../test/service/test-database.ts";
import { configCheckCommand } from "./config-check-command.ts";
import type { Finding } from "./finding.ts";

// The console. config-commands.test.ts has the other processes.

const folder = mkdtempSync(join(tmpdir(), "geoswap-check-"));
const pace = { finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
	writeFileSync(join(folder, "deployment.json"), formatDeployment(chains.deployment));
});
afterAll(async () => {
	await chains.stop();
	rmSync(folder, { recursive: true });
});
afterEach(() => {
	vi.restoreAllMocks();
	vi.unstubAllEnvs();
});

function write(file: object): string {
	const path = join(folder, `${crypto.randomUUID()}.json`);
	writeFileSync(path, JSON.stringify({ deployment: "deployment.json", ...file }));
	return path;
}

const serviceFile = (changes: object) =>
	write({
		chains: { 31337: { nodes: [{ url: chains.origin.rpcUrl }], ...pace } },
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9" },
		...changes,
	});

/** Runs the command in this process and returns its findings by part, without the one about the file. */
async function check(options: Omit<Parameters<typeof configCheckCommand>[0], "json">) {
	const printed = vi.spyOn(console, "log").mockReturnValue(undefined);
	const code = await configCheckCommand({ ...options, json: true });
	const findings: Finding[] = JSON.parse(String(printed.mock.lastCall?.[0]));
	return { code, findings: findings.filter(({ part }) => code === 2 || part !== options.config) };
}

test("a console without its section, or without its login, is refused with what must be added", async () => {
	const without = await check({ config: serviceFile({}), for: ["console"], offline: true });
	expect(without).toMatchObject({
		code: 2,
		findings: [{ message: expect.stringContaining('Add "console"') }],
	});
	const config = serviceFile({ console: { port: 9_090 } });
	vi.stubEnv("CONSOLE_DATABASE_URL", undefined);
	expect(await check({ config, for: ["console"], offline: true })).toMatchObject({
		code: 1,
		findings: [{ part: "CONSOLE_DATABASE_URL", result: "fail" }],
	});
});

test("a console's address for which browsers make no passkeys is refused", async () => {
	for (const publicUrl of ["http://console.example", "https://10.0.0.1"]) {
		const config = serviceFile({ console: { port: 9_090, publicUrl } });
		expect(await check({ config, for: ["console"], offline: true }), publicUrl).toMatchObject({
			code: 2,
			findings: [{ message: expect.stringContaining("console.publicUrl") }],
		});
	}
});

test("a console's login is tried, also if it is in a file, and no request goes to a chain or the engine", async ({
	onTestFinished,
}) => {
	const database = await createTestDatabase({ as: "owner" });
	onTestFinished(() => database.drop());
	const config = serviceFile({ console: { port: 9_090 }, database: { roles: database.roles } });
	const login = async (url: string) => {
		const path = join(folder, crypto.randomUUID());
		writeFileSync(path, `${url}\n`);
		vi.stubEnv("CONSOLE_DATABASE_URL", undefined);
		vi.stubEnv("CONSOLE_DATABASE_URL_FILE", path);
		return check({ config, for: ["console"] });
	};
	expect(await login(database.urls.console)).toEqual({
		code: 0,
		findings: [
			{ part: "CONSOLE_DATABASE_URL", result: "ok", message: "is set and valid" },
			{ part: "PostgreSQL as console", result: "ok", message: "answers, and its schema is up to date" },
			{ part: "workers' metrics", result: "warn", message: expect.stringContaining("worker.metrics") },
		],
	});
	expect(await login(database.urls.api)).toMatchObject({
		code: 1,
		findings: expect.arrayContaining([
			expect.objectContaining({ part: "PostgreSQL as console", result: "fail" }),
		]),
	});
});

test("a process with a separate configuration file is checked alone", async () => {
	await expect(
		configCheckCommand({ config: "attester.json", for: ["attester", "worker"], offline: true }),
	).rejects.toThrow("the attester has its own file");
});
