import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatDeployment } from "@geoswap/protocol";
import { expect, test } from "vitest";
import { evmKey, pins, solanaKey } from "../test/fake-service.ts";
import { makeHome, runCli } from "../test/run-cli.ts";
import { hashOf, readConfig } from "./config.ts";

const baseUrl = "https://swaps.example";

test("init writes a configuration for its owner alone, with no secret in it", async () => {
	const { env, home, deployment } = makeHome();
	const { exit, stdout } = await runCli(
		[
			"init",
			"--base-url",
			`${baseUrl}/`,
			"--deployment",
			deployment,
			"--rpc",
			"31337=http://127.0.0.1:1",
			"--json",
		],
		{ env },
	);
	expect(exit).toBe(0);
	const sha256 = hashOf(readFileSync(deployment, "utf8"));
	expect(JSON.parse(stdout)).toMatchObject({ home, baseUrl, deployment: { source: deployment, sha256 } });
	for (const name of readdirSync(home)) {
		expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
		const text = readFileSync(join(home, name), "utf8");
		for (const secret of [evmKey.slice(2), solanaKey, "key-1"]) expect(text).not.toContain(secret);
	}
	expect(await readConfig({ env })).toMatchObject({ baseUrl, rpc: { 31337: "http://127.0.0.1:1" }, pins });
});

test("init again changes only what it is told", async () => {
	const { env, deployment } = makeHome();
	await runCli(
		["init", "--base-url", baseUrl, "--deployment", deployment, "--rpc", "31337=http://a.example"],
		{ env },
	);
	const { exit } = await runCli(
		["init", "--rpc", "chain-31338=http://b.example", "solana=http://c.example"],
		{ env },
	);
	expect(exit).toBe(0);
	expect(await readConfig({ env })).toMatchObject({
		baseUrl,
		rpc: { 31337: "http://a.example", 31338: "http://b.example", 792703809: "http://c.example" },
	});
});

test("pins are not replaced by others without somebody who compared their hash", async () => {
	const { env, deployment } = makeHome();
	await runCli(["init", "--base-url", baseUrl, "--deployment", deployment], { env });
	const before = await readConfig({ env });
	const { solana: _, ...other } = pins;
	writeFileSync(deployment, formatDeployment(other));
	const sha256 = hashOf(formatDeployment(other));

	const refused = await runCli(["init", "--deployment", deployment], { env });
	expect(refused).toMatchObject({ exit: 3 });
	expect(refused.stderr).toContain(sha256);
	const wrong = ["init", "--deployment", deployment, "--deployment-sha256", before.deployment.sha256];
	expect(await runCli(wrong, { env })).toMatchObject({ exit: 3 });
	expect(await readConfig({ env })).toEqual(before);

	const right = ["init", "--deployment", deployment, "--deployment-sha256", sha256];
	expect(await runCli(right, { env })).toMatchObject({ exit: 0 });
	expect((await readConfig({ env })).deployment.sha256).toBe(sha256);
});

test("a deployment file that the service itself hands out is refused", async () => {
	const { env, deployment } = makeHome();
	const { createServer } = await import("node:http");
	const server = createServer((_, response) => response.end(readFileSync(deployment)));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const own = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
	const args = ["init", "--base-url", own, "--deployment", `${own}/deployment.json`];
	expect(await runCli(args, { env })).toMatchObject({ exit: 3 });
	// By its hash somebody has vouched for it.
	const sha256 = hashOf(readFileSync(deployment, "utf8"));
	expect(await runCli([...args, "--deployment-sha256", sha256], { env })).toMatchObject({ exit: 0 });
	server.closeAllConnections();
	server.close();
});

test("pins that were changed on the disk are not used", async () => {
	const { env, home, deployment } = makeHome();
	await runCli(["init", "--base-url", baseUrl, "--deployment", deployment], { env });
	const path = join(home, "deployment.json");
	const [one, two] = pins.chains;
	const text = readFileSync(path, "utf8");
	writeFileSync(path, text.replaceAll(one?.contracts.delegate ?? "?", two?.contracts.delegate ?? "?"));
	await expect(readConfig({ env })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});

test("an unknown key in the configuration is an error, and so is a file that is none", async () => {
	const { env, home, deployment } = makeHome();
	await runCli(["init", "--base-url", baseUrl, "--deployment", deployment], { env });
	const path = join(home, "config.json");
	const config = JSON.parse(readFileSync(path, "utf8"));
	writeFileSync(path, JSON.stringify({ ...config, privateKey: "no" }));
	await expect(readConfig({ env })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
	writeFileSync(path, "{");
	await expect(readConfig({ env })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});

test.each([
	[["--base-url", "swaps.example"], "--base-url"],
	[["--base-url", "ftp://swaps.example"], "--base-url"],
	[["--deployment", "/nowhere/deployment.json"], "no such file"],
	[["--deployment", "http://files.example/deployment.json"], "only https"],
	[["--rpc", "31337"], "--rpc"],
	[["--rpc", "1=http://a.example"], "no chain"],
	[["--rpc", "31337=a.example"], "--rpc"],
])("init %j is told what is wrong, and writes nothing", async (args, why) => {
	const { env, deployment, home } = makeHome();
	const all = ["init", "--base-url", baseUrl, "--deployment", deployment, ...args, "--json"];
	const { exit, stdout } = await runCli(all, { env });
	expect(exit).toBe(2);
	expect(JSON.parse(stdout).error.message).toContain(why);
	expect(() => statSync(home)).toThrow();
});

test("without a terminal nothing is asked: what is missing is an error", async () => {
	const { env } = makeHome();
	const { exit, stdout } = await runCli(["init", "--json"], { env });
	expect(exit).toBe(2);
	expect(JSON.parse(stdout).error.message).toContain("--base-url is missing");
});
