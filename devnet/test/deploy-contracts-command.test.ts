import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChainDeployment, deploymentSchema } from "@geoswap/protocol";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { deployConfigFor } from "./deploy-config-for.ts";
import { chain, chains, config, deployer, deployerKey, onChainsOfItsOwn, roles } from "./deploy-test.ts";

onChainsOfItsOwn();

describe("deploy-contracts", () => {
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

	test("deploys and records when it is run again after a kill, and adds a second chain to the file", async () => {
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

	test("prints the name and the price of each feed in a dry run", async () => {
		const { text, code } = await command(["--config", configFile, "--dry-run"]).finished;
		expect(code).toBe(0);
		expect(text).toContain('the feed of ETH is "ETH / USD" and says 3000\n');
		expect(text).toContain('the feed of ORB is "ORB / USD" and says 2.5\n');
	});

	test("replaces recorded contracts only with --replace, and keeps them in the file as earlier ones", async () => {
		const otherKey = generatePrivateKey();
		const env = { DEPLOYER_PRIVATE_KEY: otherKey };
		await chain.testClient.setBalance({ address: privateKeyToAddress(otherKey), value: parseEther("100") });
		const toOut = ["--config", configFile, "--out", out];
		const contractsInFile = () =>
			deploymentSchema.parse(JSON.parse(readFileSync(out, "utf8"))).chains[0]?.contracts;
		expect((await command(toOut).finished).code).toBe(0);
		const first = contractsInFile();

		for (const args of [toOut, [...toOut, "--dry-run"]]) {
			const refused = await command(args, env).finished;
			expect(refused.code).toBe(1);
			expect(refused.text).toContain(`vault (${first?.vault} → 0x`);
			expect(contractsInFile()).toEqual(first);
		}
		const replaced = await command([...toOut, "--replace", "--json"], env).finished;
		expect(replaced.code).toBe(0);
		expect(contractsInFile()?.vault).not.toBe(first?.vault);
		expect(contractsInFile()?.earlierVaults).toEqual([first?.vault]);
		expect(replaced.text).toContain(`"earlierVaults":["${first?.vault}"]`);
	});

	test("refuses an output file that it cannot write before it sends anything", async () => {
		const missing = join(folder, "missing/deployment.json");
		const inAFile = join(configFile, "deployment.json");
		for (const [path, problem] of [
			[missing, `there is no folder ${join(folder, "missing")}`],
			[inAFile, `${inAFile} cannot be written`],
		] as const) {
			const { code, text } = await command(["--config", configFile, "--out", path]).finished;
			expect(text).toMatch(/^error: .*\nnext: /);
			expect(text).toContain(problem);
			expect(code).toBe(2);
		}
		expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(0);
		expect(readdirSync(folder)).toEqual(["config.json"]);
	});

	test("refuses an invalid private key and does not show it", async () => {
		const keys = [
			deployerKey.slice(0, -1),
			`${deployerKey}0`,
			deployerKey.slice(2),
			`0x${"ff".repeat(32)}`,
			`0x${"00".repeat(32)}`,
		];
		const toOut = ["--config", configFile, "--out", out];
		const runs = keys.map((key) => command(toOut, { DEPLOYER_PRIVATE_KEY: key }).finished);
		for (const { code, text } of await Promise.all(runs)) {
			expect(text).toBe(
				"error: DEPLOYER_PRIVATE_KEY is not a private key\n" +
					"next: set it to the deployer's key: 0x and 64 hexadecimal digits\n",
			);
			expect(code).toBe(2);
		}
	});

	test("exits with 2 for wrong input, explains how to correct it, and never shows the key", async () => {
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
