import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	baseEnvironment,
	callMany,
	devFeedAbi,
	devTokenAbi,
	type Stack,
	serverCommand,
	serverMain,
	startStack,
} from "@geoswap/devnet";
import { type Deployment, deploymentSchema } from "@geoswap/protocol";
import { type Address, encodeFunctionData, type Hex, keccak256, parseEther, parseUnits, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DressedChain, startDressedChain } from "../../../../test/chain/dressed-chain.ts";
import { readRecording, withoutVolatileParts, writeRecording } from "../../../../test/chain/recording.ts";

// Three chains, a database, an engine and six processes, so this test is only in the long run.
const isFull = Boolean(process.env.GEOSWAP_FULL);
vi.setConfig({ testTimeout: 2_400_000, hookTimeout: 300_000 });

const slugs = ["base", "arbitrum", "bnb"] as const;
/** Values that no source has. */
const settings: Record<string, string[]> = {
	bnb: ["--set", "feeds.USDC/USD.heartbeatSeconds=86400"],
};

/** Returns a key that is the same in each run and used nowhere else. */
const keyOf = (name: string): Hex => keccak256(toHex(`chain add test: ${name}`));
const addressOf = (name: string): Address => privateKeyToAccount(keyOf(name)).address;
const attesters = ["attester 1", "attester 2", "attester 3"].sort((one, other) =>
	BigInt(addressOf(one)) < BigInt(addressOf(other)) ? -1 : 1,
);

const folder = mkdtempSync(join(tmpdir(), "geoswap-three-chains-"));
const first = join(folder, "first");
const dataDir = join(folder, "stack");
const chains: DressedChain[] = [];
const stopping = new AbortController();
let stack: Stack | undefined;
beforeAll(async () => {
	if (!isFull) return;
	mkdirSync(first);
	for (const slug of slugs) {
		const chain = await startDressedChain(slug);
		chains.push(chain);
		await chain.testClient.setBalance({ address: addressOf("deployer"), value: parseEther("10") });
		await chain.testClient.setIntervalMining({ interval: 1 });
	}
	void keepFeedsFresh();
	writeFileSync(
		join(folder, "owners.json"),
		JSON.stringify({
			admin: addressOf("admin"),
			operators: [addressOf("relayer")],
			guardians: [addressOf("guardian")],
			treasuries: [addressOf("treasury")],
			configurers: [addressOf("config")],
			resumers: [addressOf("resume")],
			attesterSet: { threshold: 2, attesters: attesters.map(addressOf) },
			confirmations: 1,
		}),
	);
	writeFileSync(
		join(first, "geoswap.json"),
		JSON.stringify({
			deployment: "deployment.json",
			chains: {},
			api: { port: 0 },
			worker: { port: 0 },
			restate: { ingressUrl: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:2" },
			attesters: attesters.map(() => ({ url: "http://127.0.0.1:9" })),
		}),
	);
});
afterAll(async () => {
	stopping.abort();
	await stack?.stop();
	await Promise.all(chains.map(({ stop }) => stop()));
	rmSync(folder, { recursive: true, force: true });
});

/** Keeps refreshing the feeds, whose heartbeats are those of the real chains, down to 27 seconds. */
async function keepFeedsFresh(): Promise<void> {
	const data = encodeFunctionData({ abi: devFeedAbi, functionName: "refresh" });
	const keeper = addressOf("feed keeper");
	for (const { testClient } of chains) {
		await testClient.setBalance({ address: keeper, value: parseEther("1000") });
	}
	while (!stopping.signal.aborted) {
		for (const chain of chains) {
			const calls = chain.preset.feeds.map(({ address }) => ({ to: address.value, data }));
			await callMany(chain, keeper, calls).catch(() => {});
		}
		await new Promise((resolve) => setTimeout(resolve, 5_000));
	}
}

type Run = { code: number; output: string };
function geoswapd(args: string[], env: Record<string, string> = {}): Promise<Run> {
	return new Promise((resolve) => {
		const child = execFile(
			process.execPath,
			[serverMain, ...args],
			{ env: { ...baseEnvironment(), DEPLOYER_PRIVATE_KEY: keyOf("deployer"), ...env } },
			(_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
		);
	});
}
function addCommand(slug: string, config: string, more: string[] = []): string[] {
	const { nodeUrl: rpcUrl } = chainOf(slug);
	const owners = join(folder, "owners.json");
	const fixed = ["chain", "add", slug, "--rpc", rpcUrl, "--owners", owners, "--config", config];
	return [...fixed, ...(settings[slug] ?? []), ...more];
}
function chainOf(slug: string): DressedChain {
	const found = chains[slugs.indexOf(slug as (typeof slugs)[number])];
	if (!found) throw new Error(`there is no ${slug}`);
	return found;
}
/** Commands and their output as on a terminal, with an operator's names. */
const shown: string[] = [];
function record(args: string[], { code, output }: Run): void {
	let text = [`$ geoswapd ${args.join(" ")}`, output.trimEnd(), `(exit code ${code})`].join("\n");
	for (const [i, { nodeUrl }] of chains.entries())
		text = text.replaceAll(nodeUrl, `https://${slugs[i]}.example`);
	shown.push(
		text
			.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "https://api.example")
			.replaceAll(`${first}/`, "")
			.replaceAll(`${dataDir}/config.json`, "geoswap.json")
			.replaceAll(`${dataDir}/`, "")
			.replaceAll(`${folder}/`, ""),
	);
}
async function recorded(args: string[], env: Record<string, string> = {}): Promise<Run> {
	const run = await geoswapd(args, env);
	record(args, run);
	return run;
}
const readDeployment = (path: string): Deployment =>
	deploymentSchema.parse(JSON.parse(readFileSync(path, "utf8")));

async function mintSettlement(slug: string, to: Address, usd: string): Promise<void> {
	const chain = chainOf(slug);
	const token = chain.preset.tokens.find(({ symbol }) => symbol === chain.preset.settlementToken);
	if (!token) throw new Error("the preset has no settlement token");
	const args = [to, parseUnits(usd, token.decimals)] as const;
	const data = encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args });
	await callMany(chain, addressOf("deployer"), [{ to: token.address.value, data }]);
}

test.runIf(isFull)(
	"test chains with the ids of Base, Arbitrum and BNB are added, swap a dollar there and back, and are then offered",
	async () => {
		// Contracts and configuration, before the service runs. The attesters do not read the chains yet.
		const config = join(first, "geoswap.json");
		for (const slug of slugs) {
			const { code, output } = await recorded(addCommand(slug, config));
			expect(output).toContain("waiting       attesters");
			expect(code).toBe(3);
			const { chainId, testClient } = chainOf(slug);
			const deployed = readDeployment(join(first, "deployment.json")).chains.find(
				(one) => one.chainId === chainId,
			);
			if (!deployed) throw new Error("the deployment is not recorded");
			await mintSettlement(slug, deployed.contracts.vault, "1000");
			await testClient.setBalance({ address: addressOf("relayer"), value: parseEther("10") });
		}

		const written = JSON.parse(readFileSync(config, "utf8"));
		stack = await startStack({
			dataDir,
			startChains: async () => ({
				endpoints: chains.map(({ chainId, nodeUrl }) => ({ chainId, rpcUrl: nodeUrl })),
				deployment: readDeployment(join(first, "deployment.json")),
				keys: {
					deployer: keyOf("deployer"),
					guardian: keyOf("guardian"),
					treasury: keyOf("treasury"),
					treasurer: keyOf("treasurer"),
					relayers: [keyOf("relayer")],
					attesters: attesters.map(keyOf),
					wallets: [],
					receipt: keyOf("receipt"),
				},
				stop: async () => {},
			}),
			configure: ({ feeDiscount: _, ...own }) => ({
				...own,
				chains: written.chains,
				// The simulated uptime feeds report that the sequencers came up a moment ago.
				price: { sequencerGraceSeconds: 1 },
			}),
		});

		const { environment, baseUrl, processes } = stack;
		const { accountId } = JSON.parse(
			await serverCommand(environment, ["accounts", "create", "canary", "--json"]),
		);
		const { apiKey } = JSON.parse(
			await serverCommand(environment, ["keys", "create", "--account", "canary", "--json"]),
		);
		const canary = { GEOSWAP_CANARY_API_KEY: apiKey, GEOSWAP_CANARY_PRIVATE_KEY: keyOf("canary") };
		const now = join(dataDir, "config.json");
		const withCanary = ["--account", accountId, "--api", baseUrl];
		for (const slug of slugs) {
			const add = () => geoswapd(addCommand(slug, now, withCanary), canary);
			if (slug === "base") {
				const unfunded = await recorded(addCommand(slug, now, withCanary), canary);
				expect(unfunded.output).toContain("SEND wallet of the canary, on chain 8453");
				expect(unfunded.code).toBe(3);
				await mintSettlement("base", addressOf("canary"), "20");
			} else {
				// The chain is now offered to the canary's account, once the API has been restarted.
				await add();
			}
			await processes.api.stop();
			await processes.api.start();
			let last: Run = { code: -1, output: "" };
			await expect
				.poll(
					async () => {
						last = await add();
						return last.code === 3 && last.output.includes("waiting       service") ? "waiting" : "over";
					},
					{ timeout: 300_000, interval: 1_000 },
				)
				.toBe("over");
			expect(last.output).toContain("done          canary");
			expect(last.output).toContain("offered to all accounts");
			expect(last.code).toBe(0);
			record(addCommand(slug, now, withCanary), last);
			expect(JSON.parse(readFileSync(now, "utf8")).chains[chainOf(slug).chainId]).not.toHaveProperty(
				"onlyAccounts",
			);

			// A run after the last step finds nothing to do.
			const again = await add();
			expect(again.code).toBe(0);
			expect(again.output).toContain("done already  canary");
			expect(again.output).toContain("done already  offer");
		}
		const recording = shown.join("\n\n");
		// Set GEOSWAP_RECORD to write a new recording.
		if (process.env.GEOSWAP_RECORD) writeRecording(recording);
		expect(withoutVolatileParts(readRecording())).toBe(withoutVolatileParts(recording));
	},
);
