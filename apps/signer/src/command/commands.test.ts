import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { portSource, startTestChains, type TestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificates } from "../certificates/make-certificates.ts";

const main = join(import.meta.dirname, "../main.ts");
const folder = mkdtempSync(join(tmpdir(), "geoswap-signer-commands-"));
const certificates = join(folder, "certificates");
let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
	writeFileSync(join(folder, "deployment.json"), formatDeployment(chains.deployment));
	await makeCertificates({ folder: certificates, servers: ["localhost"], clients: [], days: 1 });
	mkdirSync(join(folder, "state"));
});
afterAll(async () => {
	await chains.stop();
	rmSync(folder, { recursive: true });
});

type Result = { code: number; stdout: string; stderr: string };

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
	try {
		const options = { env: { PATH: process.env.PATH, ...env } };
		const output = await promisify(execFile)(process.execPath, [main, ...args], options);
		return { code: 0, ...output };
	} catch (error) {
		return error as Result;
	}
}

function write(file: object): string {
	const path = join(folder, `${crypto.randomUUID()}.json`);
	const base = {
		deployment: "deployment.json",
		state: "state/signer.sqlite",
		port: 9,
		tls: {
			certificateFile: join(certificates, "server.pem"),
			keyFile: join(certificates, "server-key.pem"),
			clientCaFile: join(certificates, "ca.pem"),
		},
		keys: {},
	};
	writeFileSync(path, JSON.stringify({ ...base, ...file }));
	return path;
}

const attester = {
	use: "attester",
	reference: "env:SIGNER_TEST_KEY",
	clients: ["a"],
	signaturesPerHour: 1,
};

test("check judges certificates, state, keys and nodes, and exits with 1 if one fails", async () => {
	const key = generatePrivateKey();
	const chain = { rpcUrl: chains.origin.rpcUrl, finalitySeconds: 5 };
	const limits = { maxFeePerGasWei: "1", maxTransactionFeeWei: "1" };
	const config = write({ chains: { 31337: { ...chain, ...limits } }, keys: { attester } });
	const { code, stdout } = await run(["check", "--json", "--config", config], { SIGNER_TEST_KEY: key });
	expect(JSON.parse(stdout)).toMatchObject([
		{ part: config, result: "ok" },
		{ part: "tls", result: "warn", message: expect.stringMatching(/server is valid until .*: renew it/) },
		{ part: "tls", result: "ok" },
		{ part: "state", result: "ok" },
		{ part: "keys", result: "ok", message: `attester is ${privateKeyToAddress(key)}` },
		{ part: "chain 31337 endpoint", result: "ok" },
	]);
	expect(code).toBe(0);
	const tls = { certificateFile: "none.pem", keyFile: "none.pem", clientCaFile: "none.pem" };
	const broken = write({ state: "nowhere/signer.sqlite", keys: { attester }, tls });
	const found = await run(["check", "--offline", "--json", "--config", broken]);
	expect(found.code).toBe(1);
	const findings: { part: string; result: string }[] = JSON.parse(found.stdout);
	expect(findings.slice(1).map(({ part, result }) => [part, result])).toEqual([
		["tls", "fail"],
		["state", "fail"],
		["keys", "fail"],
	]);
});

test("wrong input exits with 2 and names the mistake, and help exits with 0", async () => {
	const config = write({ port: "none" });
	expect(await run(["check", "--config", config])).toMatchObject({
		code: 2,
		stdout: expect.stringContaining("port"),
	});
	expect(await run(["--config", config])).toMatchObject({ code: 2, stderr: expect.stringContaining("port") });
	expect(await run(["--wrong"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--help") });
	expect(await run(["make-certificates", "--out", folder])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("--client"),
	});
	expect(await run(["--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("Exit codes") });
});

test("health queries the signer's metrics, and fails with advice if none are configured", async () => {
	expect(await run(["health", "--config", write({})])).toMatchObject({
		code: 2,
		stderr: expect.stringContaining('Add "metrics"'),
	});
	const port = await portSource()();
	const config = write({ metrics: { port } });
	const url = `http://127.0.0.1:${port}/metrics`;
	const health = async () => {
		const { code, stdout } = await run(["health", "--json"], { GEOSWAP_SIGNER_CONFIG: config });
		return { code, ...JSON.parse(stdout) };
	};
	expect(await health()).toMatchObject({ code: 1, url, healthy: false });
	const server = createServer((_, response) => response.end()).listen(port, "127.0.0.1");
	await once(server, "listening");
	try {
		expect(await health()).toMatchObject({ code: 0, healthy: true });
	} finally {
		server.close();
	}
});
