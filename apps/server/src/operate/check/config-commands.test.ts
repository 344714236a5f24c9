import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	describeSolana,
	solanaFeeds,
	startLyingNode,
	startTestChains,
	type TestChains,
} from "@geoswap/devnet";
import {
	formatDeployment,
	newSwapUuid,
	orderId,
	orderToJson,
	type SolanaDeployment,
	toSwapKey,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { solanaOrderScene } from "../../../test/order/solana-order-scene.ts";
import { createTestDatabase } from "../../../test/service/test-database.ts";
import { readConfig } from "../../config/read-config.ts";
import { openSigners } from "../../signer/open-signers.ts";
import { checkWorkerKeys } from "./check-secrets.ts";
import { ok } from "./finding.ts";

// Each command is a separate process, and all start concurrently, beside any other load.
vi.setConfig({ testTimeout: 120_000 });

/** Values of secrets and of keys in endpoints, none of which may be printed. */
const canaries = ["canary-user", "canary-password", "canary-path", "canary-query", "canary-pepper"];
const secretUrl = (scheme: string, host = "127.0.0.1:9") =>
	`${scheme}://canary-user:canary-password@${host}/canary-path?key=canary-query`;

const folder = mkdtempSync(join(tmpdir(), "geoswap-config-"));
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

type Finding = { part: string; result: "ok" | "warn" | "fail"; message: string };
type Outcome = { code: number | null; stdout: string; stderr: string };

function run(args: string[], environment: Record<string, string> = {}): Promise<Outcome> {
	return new Promise((resolve) => {
		const main = join(import.meta.dirname, "../../main.ts");
		const { PATH, NODE_COMPILE_CACHE } = process.env;
		const env = { PATH, NODE_COMPILE_CACHE, ...environment };
		const child = execFile(process.execPath, [main, "config", ...args], { env }, (_, stdout, stderr) =>
			resolve({ code: child.exitCode, stdout, stderr }),
		);
	});
}

function write(name: string, text: string): string {
	const path = join(folder, name);
	writeFileSync(path, text);
	return path;
}

/** Writes a configuration of one chain, with changes. */
function configFile(
	name: string,
	{ rpcUrl, ...changes }: { rpcUrl: string } & Record<string, unknown>,
): string {
	const file = {
		deployment: "deployment.json",
		chains: { 31337: { nodes: [{ url: rpcUrl }], ...pace } },
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9" },
		...changes,
	};
	return write(name, JSON.stringify(file));
}

const identityKeys = ["publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx"];
const sealKeys = `a:${Buffer.alloc(32, 7).toString("base64url")}`;
const pepper = "canary-pepper".padEnd(40, "x");

function expectNoCanary({ stdout, stderr }: Outcome): void {
	for (const canary of canaries) expect(stdout + stderr).not.toContain(canary);
}

test.concurrent("config without a subcommand shows its usage", async () => {
	const { stdout, stderr } = await run([]);
	expect(stdout + stderr).toMatch(/check \[options\].*print \[options\]/s);
});

test.concurrent("print shows every default as JSON, only the hosts of URLs, and which secrets are set", async () => {
	const config = configFile("print.json", {
		rpcUrl: secretUrl("https"),
		worker: { port: 0, publicUrl: "http://worker:9080" },
		restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9", identityKeys },
		attesters: [{ url: secretUrl("http") }],
		telemetry: { tracesUrl: secretUrl("https") },
	});
	const printed = await run(["print", "--env", "--config", config], { GEOSWAP_API_KEY_PEPPER: pepper });
	expect(printed).toMatchObject({ code: 0, stderr: "" });
	expect(JSON.parse(printed.stdout)).toMatchObject({
		chains: [{ nodes: [{ url: "https://***@127.0.0.1:9/***" }], pollMs: 1_000 }],
		worker: { publicUrl: "http://worker:9080" },
		environment: { GEOSWAP_API_KEY_PEPPER: "set", DATABASE_URL: "missing" },
	});
	expectNoCanary(printed);
});

test.concurrent.each([
	["in words", []],
	["as JSON", ["--json"]],
])(
	"check shows no secret of the file, of the environment or of an endpoint that does not respond: %s",
	async (_, args) => {
		const config = configFile(`check${args.join("")}.json`, {
			rpcUrl: secretUrl("http"),
			restate: { ingressUrl: secretUrl("http"), adminUrl: secretUrl("http") },
			attesters: [{ url: secretUrl("http") }],
		});
		const checked = await run(["check", "--config", config, ...args], {
			API_DATABASE_URL: secretUrl("postgres"),
			WORKER_DATABASE_URL: secretUrl("postgres"),
			AUDITOR_DATABASE_URL: secretUrl("postgres"),
			REDIS_URL: secretUrl("redis"),
			GEOSWAP_SEAL_KEYS: "canary-path",
			GEOSWAP_WEBHOOK_KEYS: "canary-path",
			GEOSWAP_API_KEY_PEPPER: pepper,
			GEOSWAP_RELAYER_KEYS: "31337:canary-path",
		});
		expect(checked.code).toBe(1);
		expectNoCanary(checked);
	},
);

test.concurrent.each<[string, string, string]>([
	[
		"no JSON",
		`{ "chains": { "31337": { "nodes": [{ "url": "${secretUrl("https")}" "pollMs": 1 }] } } }`,
		"JSON",
	],
	["no JSON at all", secretUrl("https"), "JSON"],
	["an unknown field", `{ "${secretUrl("https")}": 1 }`, "Unrecognized key"],
	["an invalid chain id", `{ "chains": { "${secretUrl("https")}": {} } }`, "Invalid"],
	[
		"an address without slashes",
		`{ "chains": { "31337": { "nodes": [{ "url": "https:rpc.example/canary-path" }] } } }`,
		"a URL must have //",
	],
])("a file with %s leads to exit code 2 and a sentence without a secret", async (name, text, sentence) => {
	const config = write(`${name}.json`, text);
	const [asJson, printed] = await Promise.all([
		run(["check", "--json", "--config", config]),
		run(["print", "--config", config]),
	]);
	for (const outcome of [asJson, printed]) {
		expect(outcome.code).toBe(2);
		expect(outcome.stdout + outcome.stderr).toContain(sentence);
		expectNoCanary(outcome);
	}
	expect(JSON.parse(asJson.stdout)[0]).toMatchObject({ part: config, result: "fail" });
});

test.concurrent("check names each secret that is missing or wrong for the given process", async () => {
	const config = configFile("secrets.json", { rpcUrl: "http://127.0.0.1:9" });
	const environment = {
		API_DATABASE_URL: "postgres://127.0.0.1:9/x",
		WORKER_DATABASE_URL: "postgres://127.0.0.1:9/x",
		GEOSWAP_SEAL_KEYS: sealKeys,
		GEOSWAP_WEBHOOK_KEYS: "canary-path",
		GEOSWAP_API_KEY_PEPPER: "short",
	};
	const results = async (process: string) => {
		const args = ["check", "--offline", "--json", "--config", config, "--for", process];
		const { code, stdout } = await run(args, environment);
		expect(code).toBe(1);
		const findings: Finding[] = JSON.parse(stdout);
		return Object.fromEntries(findings.slice(1).map(({ part, result }) => [part, result]));
	};
	expect(await results("api")).toEqual({
		API_DATABASE_URL: "ok",
		REDIS_URL: "fail",
		GEOSWAP_SEAL_KEYS: "ok",
		GEOSWAP_WEBHOOK_KEYS: "fail",
		GEOSWAP_RECEIPT_KEY: "ok",
		GEOSWAP_API_KEY_PEPPER: "fail",
	});
	expect(await results("worker")).toEqual({
		WORKER_DATABASE_URL: "ok",
		GEOSWAP_WEBHOOK_KEYS: "fail",
		GEOSWAP_RELAYER_KEYS: "fail",
	});
	expect(await results("audit")).toEqual({ AUDITOR_DATABASE_URL: "fail" });
});

test.concurrent("if the treasury acts, check requires a key of its own for each chain's treasurer, with the role on the vault", async () => {
	const { relayers, attesters, treasurer, wallets } = chains.keys;
	const { rpcUrl } = chains.origin;
	const path = configFile("keys-of-treasurer.json", { rpcUrl, treasury: { mode: "act" } });
	const args = ["check", "--json", "--for", "worker", "--config", path];
	const GEOSWAP_RELAYER_KEYS = `31337:${relayers[0]}`;
	const { stdout } = await run(args, { GEOSWAP_RELAYER_KEYS, GEOSWAP_TREASURER_KEYS: `31337:${wallets[0]}` });
	const findings: Finding[] = JSON.parse(stdout);
	const part = `chain 31337 treasurer ${privateKeyToAddress(wallets[0] ?? "0x")}`;
	expect(findings).toContainEqual({ part: "GEOSWAP_TREASURER_KEYS", ...ok("is set and valid") });
	expect(findings.filter((finding) => finding.part === part)).toEqual([
		{ part, result: "fail", message: expect.stringContaining("lacks the role TREASURER") },
		{ part, result: "fail", message: expect.stringContaining("has no funds for gas") },
	]);

	const config = readConfig(path);
	const signers = openSigners({ settings: config.keys, nowMs: Date.now });
	const wrong: [treasurerKeys: string | undefined, problem: string][] = [
		[undefined, "is not set in the environment"],
		[`31338:${treasurer}`, "has no key for chain 31337"],
		[`31337:${relayers[0]}`, "is also the key of a relayer there"],
		[`31337:${attesters[1]}`, "is also the key of an attester"],
	];
	for (const [treasurerKeys, problem] of wrong) {
		const environment = { GEOSWAP_RELAYER_KEYS, GEOSWAP_TREASURER_KEYS: treasurerKeys };
		expect(await checkWorkerKeys(config, { signers, environment })).toEqual([
			{ part: "GEOSWAP_RELAYER_KEYS", result: "ok", message: expect.anything() },
			{ part: "GEOSWAP_TREASURER_KEYS", result: "fail", message: expect.stringContaining(problem) },
		]);
	}
});

test.concurrent("check refuses a node of another chain or with different blocks, and accepts one that agrees, even if it lacks a method", async ({
	onTestFinished,
}) => {
	const { origin, destination } = chains;
	const honest = await startLyingNode({ targetUrl: origin.rpcUrl });
	const forked = await startLyingNode({ targetUrl: origin.rpcUrl });
	onTestFinished(async () => {
		await Promise.all([honest.stop(), forked.stop()]);
	});
	honest.liar = ({ method }) =>
		method === "eth_feeHistory" ? { error: { code: -32_601, message: "no such method" } } : undefined;
	forked.liar = ({ method }, block) =>
		method === "eth_getBlockByNumber"
			? { result: { ...(block as object), hash: `0x${"f".repeat(64)}` } }
			: undefined;
	const checkAll = async (name: string, secondUrl: string) => {
		const nodes = [{ url: origin.rpcUrl }, { url: secondUrl }];
		const chain = { nodes, agreeAboveUsd: 100, ...pace };
		const config = configFile(`second-${name}.json`, { rpcUrl: "", chains: { 31337: chain } });
		const { stdout } = await run(["check", "--json", "--for", "worker", "--config", config]);
		const findings: Finding[] = JSON.parse(stdout);
		const part = `chain 31337 node ${new URL(secondUrl).host}`;
		return (about: string) => findings.find((finding) => finding.part === `${part}${about}`);
	};
	const check = async (name: string, secondUrl: string) => (await checkAll(name, secondUrl))("");
	const honestFindings = await checkAll("honest", honest.url);
	expect(honestFindings("")).toMatchObject({ result: "ok" });
	expect(honestFindings(" methods")).toMatchObject({
		result: "warn",
		message: expect.stringMatching(/^eth_feeHistory is refused/),
	});
	expect(await check("forked", forked.url)).toMatchObject({
		result: "fail",
		message: expect.stringContaining("another block"),
	});
	expect(await check("other", destination.rpcUrl)).toMatchObject({
		result: "fail",
		message: expect.stringContaining("is chain 31338"),
	});
	expect(await check("down", secretUrl("http"))).toMatchObject({ result: "fail" });
});

/** Writes a configuration of a service that also offers Solana. */
function solanaConfigFile(name: string, solana: SolanaDeployment, more: object = {}): string {
	write(`deployment-${name}`, formatDeployment({ ...chains.deployment, solana }));
	const nodes = [{ url: "http://127.0.0.1:9" }];
	const slow = { nodes, finalitySeconds: 5, fillSeconds: 3_600, refundSeconds: 3_600 };
	return configFile(name, {
		rpcUrl: "",
		chains: { 31337: slow },
		deployment: `deployment-${name}`,
		solana: slow,
		attesters: [{ url: "http://127.0.0.1:9" }, { url: "http://127.0.0.1:9/other" }],
		...more,
	});
}

test.concurrent("check refuses well-known development keys", async () => {
	const [first] = chains.deployment.chains;
	if (!first) throw new Error("no chain");
	/** The genesis hash of the main cluster. */
	const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
	const service = solanaConfigFile("known.json", describeSolana({ genesisHash, feeds: solanaFeeds(first) }));
	const nowhere = { rpcUrl: "http://127.0.0.1:9" };
	const attester = {
		deployment: "deployment-known.json",
		chains: { 31337: nowhere },
		solana: nowhere,
		port: 0,
	};
	const outcomes = await Promise.all([
		...["api", "worker"].map((process) => run(["check", "--offline", "--for", process, "--config", service])),
		run([
			...["check", "--offline", "--for", "attester", "--config"],
			write("known-attester.json", JSON.stringify(attester)),
		]),
	]);
	for (const { code, stdout } of outcomes) {
		expect(code).toBe(1);
		expect(stdout).toMatch(/FAIL {2}Solana keys: .* belongs to a development key/);
	}
});

test.concurrent("print shows Solana separately from the EVM chains, as in the file", async () => {
	const [first] = chains.deployment.chains;
	if (!first) throw new Error("no chain");
	const deployment = describeSolana({ genesisHash: "1".repeat(32), feeds: solanaFeeds(first) });
	const { stdout } = await run(["print", "--config", solanaConfigFile("printed.json", deployment)]);
	const printed = JSON.parse(stdout);
	expect(printed.chains).toHaveLength(1);
	expect(printed).toMatchObject({ chains: [{ chainId: 31337 }], solana: { chainId: 792703809 } });
});

test.concurrent("the checks of a worker and an API fail if open swaps name another program; an API's check does not check attesters", async ({
	onTestFinished,
}) => {
	const [database, { deployment, order: scene, stranger }] = await Promise.all([
		createTestDatabase({ as: "owner" }),
		solanaOrderScene(),
	]);
	onTestFinished(() => database.drop());
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const order = { ...scene, swapKey: toSwapKey(uuid) };
	await database.pool.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 0, 0, '{}')`,
		[uuid, hexToBytes(orderId(order)), orderToJson(order)],
	);
	const moved = { ...deployment, program: { ...deployment.program, address: stranger.address } };
	const config = solanaConfigFile("moved.json", moved, { database: { roles: database.roles } });
	const findings = async (process: string): Promise<Finding[]> => {
		const args = ["check", "--json", "--for", process, "--config", config];
		const { api, worker, owner } = database.urls;
		const logins = { API_DATABASE_URL: api, WORKER_DATABASE_URL: worker, AUDITOR_DATABASE_URL: owner };
		return JSON.parse((await run(args, logins)).stdout);
	};
	const [worker, audit, api] = await Promise.all([findings("worker"), findings("audit"), findings("api")]);
	for (const [role, found] of Object.entries({ worker, api })) {
		expect(found).toContainEqual(
			expect.objectContaining({
				part: `PostgreSQL as ${role}`,
				result: "fail",
				message: expect.stringContaining(`1 open swap needs the escrow ${deployment.program.address}`),
			}),
		);
	}
	expect(audit).toContainEqual(
		expect.objectContaining({
			part: "PostgreSQL as auditor",
			message: expect.stringContaining("which may change every table"),
		}),
	);
	expect(worker.filter(({ part }) => part.startsWith("attester"))).not.toEqual([]);
	expect(api.filter(({ part }) => part.startsWith("attester"))).toEqual([]);
});

test.concurrent("check reports the state of a chain, its contracts, feeds, relayers and the services", async () => {
	const [relayer] = chains.keys.relayers;
	const [stranger] = chains.keys.wallets;
	const config = configFile("online.json", { rpcUrl: chains.origin.rpcUrl, treasury: { mode: "act" } });
	const args = ["check", "--json", "--config", config];
	const { code, stdout } = await run(args, {
		API_DATABASE_URL: inject("postgresUrl"),
		WORKER_DATABASE_URL: inject("postgresUrl"),
		REDIS_URL: inject("redisUrl"),
		GEOSWAP_SEAL_KEYS: sealKeys,
		GEOSWAP_API_KEY_PEPPER: pepper,
		GEOSWAP_RELAYER_KEYS: `31337:${relayer},31337:${stranger}`,
		GEOSWAP_TREASURER_KEYS: `31337:${chains.keys.treasurer}`,
	});
	expect(code).toBe(1);
	const findings: Finding[] = JSON.parse(stdout);
	const of = (part: string) => findings.filter((one) => one.part.startsWith(part));
	expect(of("chain 31337 endpoint")).toMatchObject([{ result: "ok" }]);
	expect(of("chain 31337 contracts")).toMatchObject([{ result: "ok" }]);
	expect(of("chain 31337 feeds")).toMatchObject([{ result: "ok" }]);
	const [first, ...others] = of("chain 31337 relayer");
	expect(first).toMatchObject({ result: "ok" });
	expect(others).toContainEqual(
		expect.objectContaining({ result: "fail", message: expect.stringContaining("OPERATOR") }),
	);
	expect(of("chain 31337 treasurer")).toMatchObject([
		{ part: `chain 31337 treasurer ${privateKeyToAddress(chains.keys.treasurer)}`, result: "ok" },
	]);
	// The server's own database has no schema.
	const unmigrated = {
		result: "fail",
		message: expect.stringMatching(/lacks .*\.sql; run geoswapd migrate/),
	};
	expect(of("PostgreSQL")).toMatchObject([unmigrated, unmigrated]);
	expect(of("Redis")).toMatchObject([{ result: "ok" }]);
	expect(of("Restate")).toMatchObject([{ result: "fail" }, { result: "fail" }]);
});

test.concurrent("an endpoint of another chain fails the check, and nothing else is checked on it", async () => {
	const config = configFile("other.json", { rpcUrl: chains.destination.rpcUrl });
	const { stdout } = await run(["check", "--json", "--config", config]);
	const findings: Finding[] = JSON.parse(stdout);
	expect(findings.filter(({ part }) => part.startsWith("chain"))).toMatchObject([
		{ part: "chain 31337 endpoint", result: "fail", message: expect.stringContaining("is chain 31338") },
	]);
});

test.concurrent("an attester's file, key and endpoints have a separate check", async () => {
	const file = {
		deployment: "deployment.json",
		chains: { 31337: { rpcUrl: chains.origin.rpcUrl } },
		port: 0,
	};
	const config = write("attester.json", JSON.stringify(file));
	const args = ["check", "--for", "attester", "--config", config];
	const [member, stranger] = await Promise.all(
		[chains.keys.attesters[0], chains.keys.wallets[0]].map((key = "0x") =>
			run(args, { GEOSWAP_ATTESTER_KEY: key }),
		),
	);
	expect(member).toMatchObject({ code: 0, stderr: "" });
	expect(stranger).toMatchObject({ code: 1, stdout: expect.stringContaining("is not in the attester set") });
});
