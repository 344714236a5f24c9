import { execFile } from "node:child_process";
import {
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { portSource } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Agent, newAgent } from "../caller/new-agent.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { Environment } from "../environment/environment.ts";
import { launchChromium } from "../environment/launch-chromium.ts";
import { sharedEnvironment } from "../shared-environment.ts";

// Tests the package as npm would publish it, in a project that knows nothing of this repository.

const run = promisify(execFile);
const sdk = join(import.meta.dirname, "../../packages/sdk");
/** The oldest version of Node that the package supports. */
const oldestNode = join(import.meta.dirname, "../node_modules/node-22/bin/node");

let environment: Environment;
let project: string;
let deploymentFile: string;
beforeAll(async () => {
	environment = sharedEnvironment();
	project = mkdtempSync(join(tmpdir(), "geoswap-stranger-"));
	deploymentFile = join(project, "deployment.json");
	writeFileSync(deploymentFile, formatDeployment(environment.deployment));
	await run("pnpm", ["run", "build"], { cwd: sdk });
	await run("pnpm", ["pack", "--pack-destination", project], { cwd: sdk });
	const tarball = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
	const installed = join(project, "node_modules/@geoswap/sdk");
	for (const folder of [installed, join(project, "node_modules/@solana")])
		mkdirSync(folder, { recursive: true });
	await run("tar", ["-xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
	for (const peer of ["viem", "@solana/kit"])
		symlinkSync(join(sdk, "node_modules", peer), join(project, "node_modules", peer));
	writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
	// The program is copied: in its own folder it would find this repository's package.
	copyFileSync(join(import.meta.dirname, "../caller/swap-from-both.ts"), join(project, "swap-from-both.ts"));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const settings = ({ env }: Agent, baseUrl: string) => ({
	baseUrl,
	apiKey: env.GEOSWAP_API_KEY,
	evmKey: env.GEOSWAP_EVM_KEY,
	solanaKey: env.GEOSWAP_SOLANA_KEY,
	pins: environment.deployment,
});

async function bundle(code: string, platform: "node" | "browser"): Promise<string> {
	const entry = join(project, `${platform}.ts`);
	writeFileSync(entry, code);
	const isOfPackage = /^(@geoswap\/sdk|@solana\/kit|viem)(\/|$)/;
	const made = await rolldown({
		input: entry,
		platform,
		// Node finds the package by itself, as it was published.
		external: platform === "node" ? isOfPackage : [],
		logLevel: "silent",
	});
	const { output } = await made.generate({ format: "esm" });
	await made.close();
	return output[0].code;
}

test("the published SDK swaps from both origins on the oldest Node that it supports", async () => {
	expect(existsSync(oldestNode)).toBe(true);
	const agent = await newAgent(environment, { folder: project, deploymentFile });
	const input = JSON.stringify(settings(agent, environment.baseUrl));
	const file = join(project, "program.js");
	writeFileSync(
		file,
		await bundle(
			`import { swapFromBoth } from "./swap-from-both.ts";
			import { fileStore } from "@geoswap/sdk/file-store";
			if (!process.version.startsWith("v22.") || !fileStore) throw new Error(process.version);
			console.log(JSON.stringify(await swapFromBoth(JSON.parse(process.env.SETTINGS))));`,
			"node",
		),
	);
	const { stdout } = await run(oldestNode, [file], { cwd: project, env: { ...agent.env, SETTINGS: input } });
	expect(JSON.parse(stdout)).toEqual(["settled", "settled"]);
});

test("the published SDK swaps from both origins in a browser, on a page of another origin", async () => {
	const code = await bundle(
		`import { swapFromBoth } from "./swap-from-both.ts"; globalThis.swapFromBoth = swapFromBoth;`,
		"browser",
	);
	const page = createServer(({ url }, response) => {
		const isCode = url === "/swap.js";
		response.setHeader("content-type", isCode ? "text/javascript" : "text/html");
		response.end(isCode ? code : '<!doctype html><script type="module" src="/swap.js"></script>');
	});
	await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void page.close());
	const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
	const api = apiBeside(environment, {
		name: "api-for-pages",
		port: await portSource()(),
		configure: (config) => {
			config.api.corsOrigins = [origin];
		},
	});
	onTestFinished(() => api.stop());
	const [agent, browser] = await Promise.all([
		newAgent(environment, { folder: project, deploymentFile }),
		launchChromium(),
		api.start(),
	]);
	onTestFinished(() => browser.close());
	const tab = await browser.newPage();
	const problems: string[] = [];
	tab.on("pageerror", (error) => problems.push(error.message));
	await tab.goto(origin);
	expect(problems).toEqual([]);
	const statuses = await tab.evaluate(`swapFromBoth(${JSON.stringify(settings(agent, api.baseUrl))})`);
	expect(statuses).toEqual(["settled", "settled"]);
});
