import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, relative } from "node:path";
import { formatDeployment } from "@geoswap/protocol";
import { expect, test } from "vitest";
import { evmKey, pins, solanaKey, startFakeService } from "../test/fake-service.ts";
import { initArgs, makeHome, runCli } from "../test/run-cli.ts";
import { hashOf, homeOf, readConfig } from "./config.ts";

const baseUrl = "https://swaps.example";

test("init writes files that only their owner can read, with no secret in them", async () => {
	const { env, home, deployment } = makeHome();
	const { exit, stdout } = await runCli(
		initArgs(`${baseUrl}/`, deployment, "--rpc", "31337=http://127.0.0.1:1", "--json"),
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

test("a second init changes only the options that it is given", async () => {
	const { env, deployment } = makeHome();
	await runCli(initArgs(baseUrl, deployment, "--rpc", "31337=http://127.0.0.1:1/a"), { env });
	const { exit } = await runCli(
		["init", "--rpc", "chain-31338=http://127.0.0.1:1/b", "solana=http://127.0.0.1:1/c"],
		{ env },
	);
	expect(exit).toBe(0);
	expect(await readConfig({ env })).toMatchObject({
		baseUrl,
		rpc: { 31337: "http://127.0.0.1:1/a", 31338: "http://127.0.0.1:1/b", 792703809: "http://127.0.0.1:1/c" },
	});
});

test("init refuses an endpoint of another chain, and keeps one that does not answer with a warning", async () => {
	const { env, home, deployment } = makeHome();
	const service = await startFakeService();
	try {
		const other = await runCli(initArgs(baseUrl, deployment, "--rpc", `31338=${service.baseUrl}/rpc`), {
			env,
		});
		expect(other).toMatchObject({ exit: 2, stderr: expect.stringContaining("is a node of chain 31337") });
		expect(() => statSync(home)).toThrow();
		const own = await runCli(initArgs(baseUrl, deployment, "--rpc", `31337=${service.baseUrl}/rpc`), { env });
		expect(own).toMatchObject({ exit: 0, stderr: expect.not.stringContaining("does not answer") });
	} finally {
		await service.close();
	}
	const silent = await runCli(["init", "--rpc", "31338=http://127.0.0.1:1/b"], { env });
	expect(silent).toMatchObject({ exit: 0, stderr: expect.stringContaining("does not answer like a node") });
});

test("init without the hash of the first pins writes nothing, and the error names the hash", async () => {
	const { env, home, deployment } = makeHome();
	const args = ["init", "--base-url", baseUrl, "--deployment", deployment];
	const { exit, stdout } = await runCli([...args, "--json"], { env });
	expect(exit).toBe(3);
	const { code, message } = JSON.parse(stdout).error;
	expect(code).toBe("INVALID_DEPLOYMENT");
	expect(message).toContain(hashOf(readFileSync(deployment, "utf8")));
	expect(() => statSync(home)).toThrow();
});

test.each(["damaged", "missing"])(
	"pins that are %s can be replaced only by the same pins, and endpoints stay",
	async (how) => {
		const { env, home, deployment } = makeHome();
		await runCli(initArgs(baseUrl, deployment, "--rpc", "31337=http://127.0.0.1:1/a"), { env });
		const before = await readConfig({ env });
		const path = join(home, "deployment.json");
		const damage = () => (how === "damaged" ? appendFileSync(path, " ") : rmSync(path));
		damage();
		expect(await runCli(["init", "--rpc", "31337=http://127.0.0.1:1/b"], { env })).toMatchObject({ exit: 2 });
		const { solana: _, ...other } = pins;
		const otherFile = `${deployment}.other`;
		writeFileSync(otherFile, formatDeployment(other));
		expect(await runCli(["init", "--deployment", otherFile], { env })).toMatchObject({ exit: 3 });
		await expect(readConfig({ env })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
		expect(await runCli(["init", "--deployment", deployment], { env })).toMatchObject({ exit: 0 });
		expect(await readConfig({ env })).toEqual(before);
	},
);

test("pins are replaced by other pins only if the hash of those is given", async () => {
	const { env, deployment } = makeHome();
	await runCli(initArgs(baseUrl, deployment), { env });
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

test("a deployment file that the service itself serves is refused unless its hash is given", async () => {
	const { env, deployment } = makeHome();
	const server = createServer((_, response) => response.end(readFileSync(deployment)));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const own = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
	const args = ["init", "--base-url", own, "--deployment", `${own}/deployment.json`];
	const refused = await runCli(args, { env });
	expect(refused).toMatchObject({ exit: 3 });
	expect(refused.stderr).toContain("comes from the service that it is meant to check");
	const capitals = args.with(4, `${own.replace("http", "HTTP")}/deployment.json`);
	expect((await runCli(capitals, { env })).stderr).toContain(
		"comes from the service that it is meant to check",
	);
	const otherPort = args.with(2, "http://127.0.0.1:1");
	expect((await runCli(otherPort, { env })).stderr).toContain(
		"comes from the service that it is meant to check",
	);
	// The given hash means that the user has verified the file.
	const sha256 = hashOf(readFileSync(deployment, "utf8"));
	expect(await runCli([...args, "--deployment-sha256", sha256], { env })).toMatchObject({ exit: 0 });
	server.closeAllConnections();
	server.close();
});

test("a redirect to the deployment file is not followed", async () => {
	const { env, deployment } = makeHome();
	const server = createServer(({ url }, response) => {
		if (url === "/moved") response.writeHead(302, { location: "/deployment.json" }).end();
		else response.end(readFileSync(deployment));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const at = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
	const args = initArgs(baseUrl, deployment);
	expect(await runCli(args.with(4, `${at}/moved`), { env })).toMatchObject({ exit: 2 });
	expect(await runCli(args.with(4, `${at}/deployment.json`), { env })).toMatchObject({ exit: 0 });
	server.closeAllConnections();
	server.close();
});

test("pins that were changed on the disk are not used", async () => {
	const { env, home, deployment } = makeHome();
	await runCli(initArgs(baseUrl, deployment), { env });
	const path = join(home, "deployment.json");
	const [one, two] = pins.chains;
	const text = readFileSync(path, "utf8");
	writeFileSync(path, text.replaceAll(one?.contracts.delegate ?? "?", two?.contracts.delegate ?? "?"));
	await expect(readConfig({ env })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});

test("a configuration with an unknown key, or that is not JSON, is refused", async () => {
	const { env, home, deployment } = makeHome();
	await runCli(initArgs(baseUrl, deployment), { env });
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
	[["--base-url", "http:foo"], "--base-url"],
	[["--base-url", "https://swaps.example/?a=1"], "--base-url"],
	[["--base-url", "https://swaps.example#f"], "--base-url"],
	[["--base-url", "https://u:p@swaps.example"], "--base-url"],
	[["--deployment", "/nowhere/deployment.json"], "no such file"],
	[["--deployment", "http://files.example/deployment.json"], "an https address"],
	[["--rpc", "31337"], "--rpc"],
	[["--rpc", "1=http://127.0.0.1:1/a"], "no chain"],
	[["--rpc", "31337=a.example"], "--rpc"],
	[["--rpc", "31337=http:foo"], "--rpc"],
])("init with %j reports the problem, and writes nothing", async (args, why) => {
	const { env, deployment, home } = makeHome();
	const all = [...initArgs(baseUrl, deployment), ...args, "--json"];
	const { exit, stdout } = await runCli(all, { env });
	expect(exit).toBe(2);
	expect(JSON.parse(stdout).error.message).toContain(why);
	expect(() => statSync(home)).toThrow();
});

test("without a terminal init does not prompt, and a missing option is an error", async () => {
	const { env } = makeHome();
	const { exit, stdout } = await runCli(["init", "--json"], { env });
	expect(exit).toBe(2);
	expect(JSON.parse(stdout).error.message).toContain("--base-url is missing");
});

test("a relative GEOSWAP_HOME is made absolute", () => {
	const { home } = makeHome();
	expect(homeOf({ env: { GEOSWAP_HOME: relative(process.cwd(), home) } })).toBe(home);
});
