import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type DeployConfigInput,
	DeployError,
	deployContracts,
	devnetKeys,
	parseDeployConfig,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import { type ChainDeployment, deploymentSchema, geoVaultAbi } from "@geoswap/protocol";
import { type Address, custom, http, parseAbi, parseEther, toFunctionSelector } from "viem";
import { entryPoint09Address } from "viem/account-abstraction";
import {
	generatePrivateKey,
	mnemonicToAccount,
	privateKeyToAccount,
	privateKeyToAddress,
} from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestChains, type TestChain, type TestChains } from "../src/index.ts";
import { deployConfigFor } from "./deploy-config-for.ts";

const deployerKey = generatePrivateKey();
const deployer = privateKeyToAccount(deployerKey);
const newAddress = (): Address => privateKeyToAddress(generatePrivateKey());
const roles = {
	admin: newAddress(),
	operators: [newAddress(), newAddress()],
	guardians: [newAddress()],
	treasuries: [newAddress()],
};
const accessManagerAbi = parseAbi([
	"function hasRole(uint64 roleId, address account) view returns (bool isMember, uint32 executionDelay)",
	"function canCall(address caller, address target, bytes4 selector) view returns (bool immediate, uint32 delay)",
]);

let chains: TestChains;
let chain: TestChain;
let config: DeployConfigInput;
let snapshot: `0x${string}`;

beforeAll(async () => {
	chains = await startTestChains();
	chain = chains.origin;
	config = deployConfigFor(chain.deployment, roles);
	const { delegate, escrow } = chain.deployment.contracts;
	// These two have one address for all deployers: taken away, the chain is one that has nothing of ours.
	for (const address of [delegate, escrow]) {
		await chain.testClient.setCode({ address, bytecode: "0x" });
		await chain.testClient.setNonce({ address, nonce: 0 });
	}
	await chain.testClient.setBalance({ address: deployer.address, value: parseEther("100") });
});
afterAll(() => chains.stop());
beforeEach(async () => {
	snapshot = await chain.testClient.snapshot();
});
afterEach(() => chain.testClient.revert({ id: snapshot }));

function options(onStep?: (report: StepReport) => void) {
	return {
		transport: http(chain.rpcUrl),
		account: deployer,
		config: parseDeployConfig(config),
		pollingIntervalMs: 5,
		...(onStep ? { onStep } : {}),
	};
}

async function plan(): Promise<StepReport[]> {
	const reports: StepReport[] = [];
	await planContracts(options((report) => void reports.push(report)));
	return reports;
}

test("a deployment gives each role its functions and members, and leaves the deployer nothing", async () => {
	const { contracts } = await deployContracts(options());
	const { accessManager, vault } = contracts;
	const mayCall = async (caller: Address, name: string) => {
		const item = geoVaultAbi.find((entry) => entry.type === "function" && entry.name === name);
		if (item?.type !== "function") throw new Error(`the vault has no function ${name}`);
		const [isAllowed] = await chain.publicClient.readContract({
			address: accessManager,
			abi: accessManagerAbi,
			functionName: "canCall",
			args: [caller, vault, toFunctionSelector(item)],
		});
		return isAllowed;
	};
	const allowed = async (caller: Address | undefined) => {
		const names = [
			...["fill", "fillMany", "void", "voidMany", "pause"],
			...["withdraw", "claimCredit", "unpause", "setOutflowCap"],
		];
		const answers = await Promise.all(names.map((name) => mayCall(caller as Address, name)));
		return names.filter((_, i) => answers[i]);
	};
	expect(await allowed(roles.operators[0])).toEqual(["fill", "fillMany", "void", "voidMany"]);
	expect(await allowed(roles.operators[1])).toEqual(["fill", "fillMany", "void", "voidMany"]);
	expect(await allowed(roles.guardians[0])).toEqual(["pause"]);
	expect(await allowed(roles.treasuries[0])).toEqual(["withdraw", "claimCredit"]);
	expect(await allowed(roles.admin)).toEqual(["unpause", "setOutflowCap"]);
	expect(await allowed(deployer.address)).toEqual([]);
	for (const [i, { address }] of chain.deployment.assets.entries()) {
		const cap = await chain.publicClient.readContract({
			address: vault,
			abi: geoVaultAbi,
			functionName: "outflowAvailable",
			args: [address],
		});
		expect(cap).toBe(1_000_000n * BigInt(i + 1));
	}
});

test("a dry run sends nothing and names every step", async () => {
	const blockBefore = await chain.publicClient.getBlockNumber();
	const reports = await plan();
	expect(await chain.publicClient.getBlockNumber()).toBe(blockBefore);
	expect(
		await chain.publicClient.getTransactionCount({ address: deployer.address, blockTag: "pending" }),
	).toBe(0);
	const done = reports.filter(({ outcome }) => outcome !== "would do").map(({ step }) => step.name);
	expect(done).toEqual(["ADMIN may call unpause, setOutflowCap"]);
	const created = reports.flatMap(({ step }) => step.creates ?? []);
	expect(created).toHaveLength(4);
});

test("a run stopped after any step and run again gives the same result", async () => {
	const steps = (await plan()).length;
	const whole = await chain.testClient.snapshot();
	const expected = await deployContracts(options());
	const transactions = await chain.publicClient.getTransactionCount({ address: deployer.address });
	await chain.testClient.revert({ id: whole });

	for (let stopAfter = 1; stopAfter <= steps; stopAfter++) {
		const before = await chain.testClient.snapshot();
		let seen = 0;
		const stopped = deployContracts(
			options(() => {
				if (++seen === stopAfter) throw new Error("stopped");
			}),
		);
		await expect(stopped).rejects.toThrow("stopped");
		expect(await deployContracts(options())).toEqual(expected);
		expect((await plan()).every(({ outcome }) => outcome === "already done")).toBe(true);
		const nonce = await chain.publicClient.getTransactionCount({ address: deployer.address });
		expect(nonce, "no step was sent twice").toBe(transactions);
		await chain.testClient.revert({ id: before });
	}
});

test("a run after the hand-over sends nothing, and says what the admin has to do if something is missing", async () => {
	await deployContracts(options());
	const nonce = await chain.publicClient.getTransactionCount({ address: deployer.address });
	await deployContracts(options());
	expect((await plan()).every(({ outcome }) => outcome === "already done")).toBe(true);

	const changed = parseDeployConfig({ ...config, roles: { ...roles, operators: [newAddress()] } });
	const error = await deployContracts({ ...options(), config: changed }).catch((error) => error);
	expect(error).toBeInstanceOf(DeployError);
	expect(error.next).toMatch(/^have the admin call 0x/);
	expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(nonce);
});

test("account and escrow have one address on all chains, tokens and vaults one on each", async () => {
	const [one, two] = chains.deployment.chains as [ChainDeployment, ChainDeployment];
	expect(one.contracts.delegate).toBe(two.contracts.delegate);
	expect(one.contracts.escrow).toBe(two.contracts.escrow);
	expect(one.contracts.vault).not.toBe(two.contracts.vault);
	expect(one.settlementToken).not.toBe(two.settlementToken);
});

describe("before anything is sent, a deployment is refused", () => {
	const mustNotBeCalled = custom({
		request: async ({ method }) => {
			throw new Error(`${method} was called`);
		},
	});

	test.each([
		["anvil's", mnemonicToAccount("test test test test test test test test test test test junk").address],
		["the devnet's", privateKeyToAddress(devnetKeys([7])[0] ?? "0x")],
	])("to a real chain with %s keys", async (_, known) => {
		const real = { ...options(), transport: mustNotBeCalled };
		const asDeployer = parseDeployConfig({ ...config, chainId: 8453 });
		const asOperator = parseDeployConfig({
			...config,
			chainId: 8453,
			roles: { ...roles, operators: [known] },
		});
		await expect(deployContracts({ ...real, config: asOperator })).rejects.toThrow(known);
		const account = { address: known, type: "json-rpc" } as const;
		await expect(deployContracts({ ...real, account, config: asDeployer })).rejects.toThrow(known);
	});

	test("with an unknown key in its config, at any depth", () => {
		expect(() => parseDeployConfig({ ...config, vualt: 1 })).toThrow(/vualt/);
		expect(() => parseDeployConfig({ ...config, roles: { ...roles, operator: [] } })).toThrow(/"operator"/);
	});

	test("with attesters out of order, a cap missing, or the settlement token not among the assets", () => {
		const attesters = config.attesterSet.attesters.toReversed();
		expect(() => parseDeployConfig({ ...config, attesterSet: { threshold: 2, attesters } })).toThrow(
			/ascending/,
		);
		expect(() => parseDeployConfig({ ...config, outflowCaps: {} })).toThrow(/nothing could leave/);
		expect(() => parseDeployConfig({ ...config, settlementToken: newAddress() })).toThrow(
			/not among the assets/,
		);
	});

	test("through a node of another chain", async () => {
		const other = { ...options(), transport: http(chains.destination.rpcUrl) };
		await expect(deployContracts(other)).rejects.toThrow("the node is on chain 31338");
	});

	test("where there is no EntryPoint or no deterministic deployer", async () => {
		await chain.testClient.setCode({ address: entryPoint09Address, bytecode: "0x" });
		await expect(deployContracts(options())).rejects.toThrow("EntryPoint v0.9");
		await chain.testClient.setCode({
			address: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
			bytecode: "0x",
		});
		await expect(deployContracts(options())).rejects.toThrow("the deterministic deployer");
	});

	test("with a router or decimals that are not what the config says", async () => {
		const { quoterV2, factory } = chain.deployment.uniswap;
		const wrongRouter = parseDeployConfig({ ...config, uniswap: { factory, quoterV2, router: factory } });
		await expect(deployContracts({ ...options(), config: wrongRouter })).rejects.toThrow("does not answer");
		const assets = config.assets.map((asset) =>
			asset.symbol === "USDT" ? { ...asset, decimals: 18 } : asset,
		);
		const wrongDecimals = parseDeployConfig({ ...config, assets });
		await expect(deployContracts({ ...options(), config: wrongDecimals })).rejects.toThrow("6 decimals");
	});
});

describe("the command", () => {
	const folder = mkdtempSync(join(tmpdir(), "geoswap-deploy-"));
	const configFile = join(folder, "config.json");
	const out = join(folder, "deployment.json");
	afterAll(() => rmSync(folder, { recursive: true }));
	beforeEach(() => {
		rmSync(out, { force: true });
		writeFileSync(configFile, JSON.stringify(config));
	});

	function command(args: string[], env: Record<string, string> = {}) {
		const main = join(import.meta.dirname, "../../contracts/deploy/main.ts");
		const child = spawn(process.execPath, [main, ...args], {
			env: { ...process.env, RPC_URL: chain.rpcUrl, DEPLOYER_PRIVATE_KEY: deployerKey, ...env },
		});
		const output = { text: "" };
		child.stdout.on("data", (chunk) => (output.text += chunk));
		child.stderr.on("data", (chunk) => (output.text += chunk));
		const finished = once(child, "close").then(([code]) => ({ code, text: output.text }));
		return { child, output, finished };
	}

	test("killed half way and run again, deploys and records; a second chain joins the first in the file", async () => {
		const interrupted = command(["--config", configFile, "--out", out]);
		interrupted.child.stdout.on("data", () => {
			if (interrupted.output.text.includes("done          GeoEscrow")) interrupted.child.kill("SIGKILL");
		});
		await interrupted.finished;
		expect(existsSync(out)).toBe(false);

		const { code, text } = await command(["--config", configFile, "--out", out]).finished;
		expect(text).toContain("already done  GeoEscrow is deployed");
		expect(code).toBe(0);
		const first = readFileSync(out, "utf8");
		expect(first).not.toContain(deployerKey.slice(2));
		expect(deploymentSchema.parse(JSON.parse(first)).chains.map(({ chainId }) => chainId)).toEqual([31337]);

		await chains.destination.testClient.setBalance({ address: deployer.address, value: parseEther("100") });
		const second = chains.deployment.chains[1] as ChainDeployment;
		writeFileSync(configFile, JSON.stringify(deployConfigFor(second, roles)));
		const other = command(["--config", configFile, "--out", out], { RPC_URL: chains.destination.rpcUrl });
		expect((await other.finished).code).toBe(0);
		const { chains: both } = deploymentSchema.parse(JSON.parse(readFileSync(out, "utf8")));
		expect(both.map(({ chainId }) => chainId)).toEqual([31337, 31338]);
		expect(both[0]).toEqual(JSON.parse(first).chains[0]);
	});

	test("says what to do, with exit code 2 for wrong input, and never shows the key", async () => {
		const badKey = `${deployerKey}00`;
		const toOut = ["--config", configFile, "--out", out];
		const [unreachable, ...wrong] = await Promise.all([
			command(toOut, { RPC_URL: "http://127.0.0.1:1/secret" }).finished,
			command(["--config", configFile]).finished,
			command(toOut, { DEPLOYER_PRIVATE_KEY: badKey }).finished,
			command(toOut, { RPC_URL: "" }).finished,
			command([...toOut, "--fast"]).finished,
		]);
		expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
		for (const { text } of wrong.slice(0, 3)) expect(text).toMatch(/^error: .*\nnext: /);
		for (const { text } of wrong) expect(text).not.toContain(deployerKey.slice(2));
		expect(unreachable.code).toBe(1);
		expect(unreachable.text).toContain("the node does not answer");
		expect(unreachable.text).not.toContain("secret");
	});
});
