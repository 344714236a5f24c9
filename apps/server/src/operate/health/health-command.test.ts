import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSource, startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { serveDurable } from "../../durable/serve-durable.ts";
import { createLog } from "../../telemetry/log.ts";
import { healthCommand, readFirstProcess } from "./health-command.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-health-"));
const identityKeys = ["publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx"];
const handler = async () => {};

beforeAll(async () => {
	const { deployment, stop } = await startTestChains();
	await stop();
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

function writeConfig(ports: { api?: number; worker?: number; audit?: number; console?: number }): string {
	const path = join(folder, `${crypto.randomUUID()}.json`);
	const pace = { finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
	const config = {
		deployment: "deployment.json",
		chains: { 31337: { nodes: [{ url: "http://127.0.0.1:9" }], ...pace } },
		api: { host: "0.0.0.0", port: ports.api ?? 9 },
		worker: { port: ports.worker ?? 9 },
		...(ports.audit && { audit: { metrics: { port: ports.audit } } }),
		...(ports.console && { console: { port: ports.console } }),
		restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9", identityKeys },
	};
	writeFileSync(path, JSON.stringify(config));
	return path;
}

/** Runs the command in this process and returns what it printed. */
async function health(options: Parameters<typeof healthCommand>[0]) {
	const printed = vi.spyOn(console, "log").mockReturnValue(undefined);
	const code = await healthCommand({ ...options, json: true });
	return { code, said: JSON.parse(String(printed.mock.lastCall?.[0])) };
}

test("health exits 0 if the worker responds at its configured address or at --url", async () => {
	const worker = await serveDurable({
		handlers: { round: handler, lane: handler, attestation: handler, crossCheck: handler },
		host: "127.0.0.1",
		port: 0,
		identityKeys,
		retryMaxMs: 200,
		log: createLog({ level: "silent", process: "test" }),
	});
	const port = Number(new URL(worker.url).port);
	try {
		const configured = await health({ process: "worker", config: writeConfig({ worker: port }) });
		expect(configured).toMatchObject({ code: 0, said: { url: `${worker.url}/health`, healthy: true } });
		const moved = await health({ process: "worker", config: writeConfig({}), url: worker.url });
		expect(moved).toMatchObject({ code: 0, said: { healthy: true } });
	} finally {
		await worker.close();
	}
});

test.each(["api", "worker", "console"] as const)(
	"health exits 1 if the process does not respond: %s",
	async (process) => {
		const port = await portSource()();
		const config = writeConfig({ api: port, worker: port, console: port });
		const { code, said } = await health({ process, config, ready: true });
		expect({ code, healthy: said.healthy }).toEqual({ code: 1, healthy: false });
		expect(said.problem).toBe("does not answer (ECONNREFUSED)");
		// The API listens on all addresses, and is called on this machine.
		expect(said.url).toBe(
			process === "api" ? `http://localhost:${port}/ready` : `http://127.0.0.1:${port}/health`,
		);
	},
);

test("health exits 1 and names the time if the process accepts the connection and sends nothing", async () => {
	const silent = createServer(() => {}).listen(0, "127.0.0.1");
	await once(silent, "listening");
	try {
		const { port } = silent.address() as AddressInfo;
		const { code, said } = await health({ process: "audit", config: writeConfig({ audit: port }) });
		expect({ code, problem: said.problem }).toEqual({ code: 1, problem: "did not answer within 2000 ms" });
	} finally {
		silent.close();
		silent.closeAllConnections();
	}
});

test("health queries the audit's metrics, and fails with advice if none are configured", async () => {
	const port = await portSource()();
	await expect(healthCommand({ process: "audit", config: writeConfig({}) })).rejects.toThrow(
		'audit.metrics: is missing. Add "metrics": { "port": 8712 }',
	);
	const url = `http://127.0.0.1:${port}/metrics`;
	const asked = await health({ process: "audit", config: writeConfig({ audit: port }) });
	expect(asked).toMatchObject({ code: 1, said: { url, healthy: false } });
});

test("a port that is chosen at the start cannot be queried", async () => {
	const config = writeConfig({ api: 0 });
	await expect(healthCommand({ process: "api", config })).rejects.toThrow("Name a port");
});

test.each([
	[["node", "main.ts", "api"], { process: "api" }],
	[["node", "main.ts", "console"], { process: "console" }],
	[["node", "main.ts", "audit"], { process: "audit" }],
	[["node", "main.ts", "attester", "--config=/etc/a.json"], { process: "attester", config: "/etc/a.json" }],
	[
		["/init", "--", "node", "main.ts", "worker", "--config", "/etc/g.json", "--url", "http://w:1"],
		{ process: "worker", config: "/etc/g.json", url: "http://w:1" },
	],
])("the first process of a container determines the process to query: %j", (args, expected) => {
	const path = join(folder, crypto.randomUUID());
	writeFileSync(path, `${args.join("\0")}\0`);
	expect(readFirstProcess(path)).toEqual(expected);
});

test("a first process that is not part of the service is refused with a solution", () => {
	const path = join(folder, "init");
	writeFileSync(path, "/sbin/init\0");
	expect(() => readFirstProcess(path)).toThrow("Name the process to check, as in geoswapd health api");
});
