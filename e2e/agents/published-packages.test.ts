import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
	copyFileSync,
	existsSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { portSource } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { localRegistry } from "../caller/local-registry.ts";
import { type Agent, newAgent } from "../caller/new-agent.ts";
import { apiBeside } from "../environment/api-beside.ts";
import type { Environment } from "../environment/environment.ts";
import { launchChromium } from "../environment/launch-chromium.ts";
import { sharedEnvironment } from "../shared-environment.ts";

// Tests both packages as they are published. They are packed, and installed by npm in a project outside this
// repository.

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const repository = "https://git.example/somewhere/geoswap";
/** The oldest version of Node that the packages support. */
const oldestNode = join(import.meta.dirname, "../node_modules/node-22/bin/node");

let environment: Environment;
let project: string;
let deploymentFile: string;
let tarballs: string[];
/** The packages are built, packed and installed here, which takes minutes on a busy machine. */
beforeAll(async () => {
	environment = sharedEnvironment();
	project = mkdtempSync(join(tmpdir(), "geoswap-stranger-"));
	deploymentFile = join(project, "deployment.json");
	writeFileSync(deploymentFile, formatDeployment(environment.deployment));
	writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
	const packing = ["--out", join(project, "packed"), "--repository", repository, "--json"];
	const { stdout } = await run(process.execPath, [join(root, "packages/pack.ts"), ...packing]);
	({ tarballs } = JSON.parse(stdout) as { tarballs: string[] });
	const quietly = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
	await run("npm", ["install", ...quietly, ...tarballs, ...["viem", "@solana/kit"].map(pinned)], {
		cwd: project,
	});
	// The program is copied, because in its own folder it would find this repository's package.
	copyFileSync(join(import.meta.dirname, "../caller/swap-from-both.ts"), join(project, "swap-from-both.ts"));
}, 300_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Returns a peer in the version that this repository has. */
function pinned(name: string): string {
	const file = join(import.meta.dirname, "../node_modules", name, "package.json");
	return `${name}@${JSON.parse(readFileSync(file, "utf8")).version}`;
}

const installed = (name: string, file: string) =>
	readFileSync(join(project, "node_modules/@geoswap", name, file), "utf8");

/** Returns the blocks of code in the skill that the command's package brings. */
function skillBlocks(language: string): string[] {
	const text = installed("cli", "skills/geoswap/SKILL.md");
	return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, code = ""]) =>
		of === language ? [code] : [],
	);
}

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

test("the published SDK swaps from both origins in a browser, on a page of another origin, and with the code of the skill", async () => {
	const [ofSkill = "", ...more] = skillBlocks("js");
	expect(more).toEqual([]);
	writeFileSync(join(project, "skill.js"), ofSkill);
	const code = await bundle(
		`import { privateKeyToAccount } from "viem/accounts";
		import { swapFromBoth } from "./swap-from-both.ts";
		import { swapOnce } from "./skill.js";
		globalThis.swapFromBoth = swapFromBoth;
		globalThis.swapOnce = async ({ baseUrl, apiKey, evmKey, pins }) => {
			const [one, two] = pins.chains.map(({ chainId, assets }) => ({
				chainId,
				usdc: assets.find(({ symbol }) => symbol === "USDC").address,
			}));
			const { status } = await swapOnce({
				baseUrl,
				apiKey,
				deployment: pins,
				signer: privateKeyToAccount(evmKey),
				terms: {
					originChain: one.chainId,
					destinationChain: two.chainId,
					inputToken: one.usdc,
					outputToken: two.usdc,
					amount: 10_000_000n,
					minOutput: 9_700_000n,
				},
			});
			return status;
		};`,
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
	const given = JSON.stringify(settings(agent, api.baseUrl));
	expect(await tab.evaluate(`swapFromBoth(${given})`)).toEqual(["settled", "settled"]);
	expect(await tab.evaluate(`swapOnce(${given})`)).toBe("settled");
});

/** The oldest Node runs only at full size. Otherwise a swap of the SDK with it is enough. */
const nodes = process.env.GEOSWAP_FULL ? [process.execPath, oldestNode] : [process.execPath];

test.each(nodes)("the installed command shows its help, quotes and swaps with %s", async (node) => {
	expect(existsSync(node)).toBe(true);
	const agent = await newAgent(environment, { folder: project, deploymentFile });
	const program = join(project, "node_modules/.bin/geoswap");
	const geoswap = async (...args: string[]) => {
		const { stdout } = await run(node, [program, ...args], { cwd: project, env: agent.env });
		return stdout;
	};
	expect(await geoswap("--help")).toContain("Usage: geoswap");
	expect(await geoswap()).toBe(await geoswap("--help"));
	const { version } = JSON.parse(installed("cli", "package.json"));
	expect((await geoswap("--version")).trim()).toBe(version);
	const hash = createHash("sha256").update(readFileSync(deploymentFile)).digest("hex");
	const pins = ["--deployment", deploymentFile, "--deployment-sha256", `sha256:${hash}`];
	await geoswap("init", "--base-url", environment.baseUrl, ...pins, "--no-keys");
	const [one, two] = environment.deployment.chains.map(({ chainId }) => `${chainId}:USDC`);
	const terms = ["--from", String(one), "--to", String(two), "--amount", "10", "--json"];
	expect(JSON.parse(await geoswap("quote", ...terms))).toMatchObject({
		quote: { swapId: expect.any(String) },
	});
	const ended = JSON.parse(await geoswap("swap", ...terms, "--min-out", "9.7"));
	expect(ended).toMatchObject({ swap: { status: "settled" } });
});

test.each(nodes)(
	"the commands of the skill, run unchanged in an empty folder with %s, end with a settled swap",
	async (node) => {
		const [agent, registry] = await Promise.all([
			newAgent(environment, { folder: project, deploymentFile }),
			localRegistry(tarballs),
		]);
		onTestFinished(registry.close);
		const empty = mkdtempSync(join(tmpdir(), "geoswap-empty-"));
		const cache = mkdtempSync(join(tmpdir(), "geoswap-npm-"));
		onTestFinished(() => {
			for (const path of [empty, cache]) rmSync(path, { recursive: true, force: true });
		});
		const npmrc = [`@geoswap:registry=${registry.url}`, `cache=${cache}`, "update-notifier=false"];
		if (!process.env.GEOSWAP_FULL) {
			// Unless this is a full run, npm takes the one third-party package from the cache that the project's install has
			// filled.
			const { stdout } = await run("npm", ["config", "get", "cache"], { cwd: project });
			symlinkSync(join(stdout.trim(), "_cacache"), join(cache, "_cacache"));
			npmrc.push("prefer-offline=true");
		}
		writeFileSync(join(cache, "npmrc"), npmrc.join("\n"));
		const [one, two] = environment.deployment.chains.map(({ chainId }) => `${chainId}:USDC`);
		const hash = createHash("sha256").update(readFileSync(deploymentFile)).digest("hex");
		const env = {
			...agent.env,
			PATH: `${dirname(node)}:${agent.env.PATH}`,
			// A machine may reach npm only through a proxy with its own certificates.
			NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
			NPM_CONFIG_USERCONFIG: join(cache, "npmrc"),
			GEOSWAP_DEPLOYMENT_SHA256: `sha256:${hash}`,
			FROM: one,
			TO: two,
			AMOUNT: "10",
			MIN_OUT: "9.7",
			ID: "skill-1",
		};
		const blocks = skillBlocks("sh");
		expect(blocks.map((block) => /cli (\w+)/.exec(block)?.[1])).toEqual([
			"init",
			"tokens",
			"quote",
			"swap",
			"status",
		]);
		const startedAt = performance.now();
		const answers: unknown[] = [];
		for (const block of blocks) {
			const { stdout } = await run("bash", ["--norc", "-euc", block], { cwd: empty, env });
			answers.push(JSON.parse(stdout));
		}
		const seconds = (performance.now() - startedAt) / 1000;
		const { stdout: version } = await run("node", ["--version"], { env });
		console.log(
			`SKILL.md, from nothing to a settled swap on Node ${version.trim()}: ${seconds.toFixed(1)} s`,
		);
		expect(answers[2]).toMatchObject({
			quote: { output: expect.any(String), minOutput: expect.any(String) },
		});
		expect(answers[3]).toMatchObject({ swap: { status: "settled", funds: {} } });
		expect(answers[4]).toMatchObject({ swap: { status: "settled" } });
		expect(seconds).toBeLessThan(300);
	},
);

test("both packages name the repository, and the links of their READMEs lead to files of it", () => {
	for (const name of ["sdk", "cli"]) {
		const manifest = JSON.parse(installed(name, "package.json"));
		expect(manifest).toMatchObject({
			repository: { url: `git+${repository}.git`, directory: `packages/${name}` },
			bugs: `${repository}/issues`,
			license: "MIT",
		});
		expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:/);
		const links = [...installed(name, "README.md").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
		expect(links.length).toBeGreaterThan(0);
		for (const link of links.filter((one) => !one.startsWith("#"))) {
			const [path = ""] = link.split(`${repository}/blob/main/`).slice(1);
			expect({ link, isThere: existsSync(join(root, path.replace(/#.*/, ""))) }).toEqual({
				link,
				isThere: true,
			});
			expect(path).not.toBe("");
		}
	}
});
