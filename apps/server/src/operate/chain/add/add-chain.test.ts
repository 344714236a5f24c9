import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callMany, devFeedAbi } from "@geoswap/devnet";
import { type Address, encodeFunctionData, type Hex, keccak256, parseEther, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DressedChain, startDressedChain } from "../../../../test/chain/dressed-chain.ts";
import { readRecording, withoutVolatileParts } from "../../../../test/chain/recording.ts";
import { readConfig } from "../../../config/read-config.ts";
import { applySettings, expectEvm } from "../apply-settings.ts";
import { readPreset } from "../read-presets.ts";
import { addChain, type StepReport } from "./add-chain.ts";
import type { AddOptions } from "./adding.ts";
import { describeStep } from "./describe-step.ts";
import { missingValues, tokensLeftOut } from "./missing-values.ts";
import { chainTermsOf } from "./write-configuration.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Returns a key that is the same in each run and used nowhere else. */
const keyOf = (name: string): Hex => keccak256(toHex(`chain add test: ${name}`));
const addressOf = (name: string): Address => privateKeyToAccount(keyOf(name)).address;
const attesters = ["attester 1", "attester 2", "attester 3"].sort((one, other) =>
	BigInt(addressOf(one)) < BigInt(addressOf(other)) ? -1 : 1,
);
const accountId = "01890000-0000-7000-8000-000000000001";

let base: DressedChain;
const folder = mkdtempSync(join(tmpdir(), "geoswap-chain-add-"));
const at = (name: string) => join(folder, name);
beforeAll(async () => {
	base = await startDressedChain("base");
	await base.testClient.setBalance({ address: addressOf("deployer"), value: parseEther("10") });
	writeFileSync(
		at("owners.json"),
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
		at("geoswap.json"),
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
	await base.stop();
	rmSync(folder, { recursive: true });
});

async function add(
	change: Partial<AddOptions> = {},
	settings: string[] = [],
	preset = applySettings(base.preset, { settings, without: [] }),
): Promise<StepReport[]> {
	const reports: StepReport[] = [];
	await addChain(
		preset,
		{
			configPath: at("geoswap.json"),
			rpcUrls: [base.nodeUrl],
			webSocketUrls: [],
			ownersPath: at("owners.json"),
			deployerKey: keyOf("deployer"),
			deployer: undefined,
			accountId,
			apiUrl: undefined,
			apiKey: undefined,
			walletKey: undefined,
			inventoryUsd: 100,
			isDryRun: false,
			pollingIntervalMs: 5,
			nowMs: () => 0,
			...change,
		},
		(report) => void reports.push(report),
	);
	return reports;
}
const states = (reports: readonly StepReport[]) =>
	Object.fromEntries(reports.map(({ step, state }) => [step, state]));
const linesOf = (reports: readonly StepReport[], step: string) =>
	reports.find((report) => report.step === step)?.lines ?? [];

/** Sends the batch from CONFIG's Safe, as its owners would. */
async function signAsOwners(transactions: readonly { to: Address; data: Hex }[]): Promise<void> {
	const from = addressOf("config");
	await base.testClient.setBalance({ address: from, value: parseEther("1") });
	await base.testClient.impersonateAccount({ address: from });
	for (const { to, data } of transactions) {
		const hash = await base.testClient.request({
			method: "eth_sendTransaction",
			params: [{ from, to, data }],
		} as never);
		await base.publicClient.waitForTransactionReceipt({ hash });
	}
}

/** Lets the delay of CONFIG pass, and then refreshes the feeds. */
async function passDelay(): Promise<void> {
	await base.testClient.increaseTime({ seconds: 2 * 86_400 });
	await base.testClient.mine({ blocks: 1 });
	const keeper = addressOf("feed keeper");
	await base.testClient.setBalance({ address: keeper, value: parseEther("1000") });
	const data = encodeFunctionData({ abi: devFeedAbi, functionName: "refresh" });
	await callMany(
		base,
		keeper,
		base.preset.feeds.map(({ address }) => ({ to: address.value, data })),
	);
}

test("a dry run names every step and changes nothing, neither files nor the chain", async () => {
	const before = [readFileSync(at("geoswap.json"), "utf8"), await base.publicClient.getBlockNumber()];
	expect(states(await add({ isDryRun: true }))).toEqual({
		endpoints: "done",
		preset: "done",
		contracts: "would do",
		configuration: "would do",
		attesters: "would do",
		funding: "would do",
		service: "would do",
		canary: "would do",
		offer: "would do",
	});
	expect([readFileSync(at("geoswap.json"), "utf8"), await base.publicClient.getBlockNumber()]).toEqual(
		before,
	);
	expect(existsSync(at("deployment.json"))).toBe(false);
	expect(existsSync(at("chains"))).toBe(false);
});

test("without the deployer's key, existing contracts are searched and the missing steps are named", async () => {
	const reports = await add({ deployerKey: undefined, deployer: addressOf("deployer") });
	expect(states(reports)).toEqual({ endpoints: "done", preset: "done", contracts: "waiting" });
	expect(linesOf(reports, "contracts").at(-1)).toMatch(/^set DEPLOYER_PRIVATE_KEY/);
	expect(states(await add({ deployerKey: undefined })).contracts).toBe("failed");
});

test("the contracts are deployed and the configuration offers the chain to no account yet, as the recording shows", async () => {
	const reports = await add({ accountId: undefined });
	const recording = withoutVolatileParts(readRecording());
	expect(recording).toContain(withoutVolatileParts(reports.map(describeStep).join("\n")));
	expect(states(reports)).toEqual({
		endpoints: "done",
		preset: "done",
		contracts: "done",
		configuration: "done",
		attesters: "waiting",
	});
	const config = readConfig(at("geoswap.json"));
	expect(config.chains).toMatchObject([
		{
			chainId: 8453,
			onlyAccounts: [],
			finalitySeconds: 1_500,
			deployment: { kind: "op-stack", sequencerUptimeFeed: base.preset.sequencerUptimeFeed?.value },
		},
	]);
	const [chain] = config.chains;
	expect(chain?.deployment.assets.map(({ symbol }) => symbol)).toEqual([
		"ETH",
		"WETH",
		"USDC",
		"USDT",
		"cbBTC",
	]);
	// Every number in the file has a row with its reason.
	const page = readFileSync(at("chains/8453.md"), "utf8");
	const written = JSON.parse(readFileSync(at("geoswap.json"), "utf8")).chains["8453"];
	for (const field of Object.keys(written)) {
		// These are facts of the chain or come from the command line.
		if (!["nodes", "onlyAccounts", "explorerUrl"].includes(field))
			expect(page).toMatch(new RegExp(`\\| \`${field}\` \\| .+ \\| .+ \\|`));
	}
});

test("a later run offers the chain to the canary's account, and the run after it finds everything already done", async () => {
	const files = () =>
		["geoswap.json", "deployment.json", "chains/8453.md"].map((name) => readFileSync(at(name), "utf8"));
	const written = () => JSON.parse(readFileSync(at("geoswap.json"), "utf8")).chains["8453"].onlyAccounts;
	expect(states(await add())).toMatchObject({ contracts: "done already", configuration: "done" });
	expect(written()).toEqual([accountId]);
	const before = files();
	expect(states(await add())).toMatchObject({ contracts: "done already", configuration: "done already" });
	expect(files()).toEqual(before);
});

test("a change that only the owners can make is written as a batch for their Safe, and found once they made it", async () => {
	const setting = ["terms.outflowUsdPerHour=20000"];
	const reports = await add({}, setting);
	expect(states(reports).contracts).toBe("waiting");
	expect(linesOf(reports, "contracts").join("\n")).toContain("import");
	const readBatch = () => JSON.parse(readFileSync(at("chains/8453.config-safe.json"), "utf8"));
	const batch = readBatch();
	expect(batch).toMatchObject({
		version: "1.0",
		chainId: "8453",
		meta: { createdFromSafeAddress: addressOf("config") },
	});
	expect(batch.meta.description).toMatch(/^schedule: the cap on fills of /);
	expect(batch.transactions).toHaveLength(5);
	await signAsOwners(batch.transactions);
	const scheduled = await add({}, setting);
	expect(states(scheduled).contracts).toBe("waiting");
	expect(linesOf(scheduled, "contracts").join("\n")).toContain("scheduled, to be executed after 20");
	await passDelay();
	expect(states(await add({}, setting)).contracts).toBe("waiting");
	expect(readBatch().meta.description).toMatch(/^execute: the cap on fills of /);
	await signAsOwners(readBatch().transactions);
	expect(states(await add({}, setting)).contracts).toBe("done already");
});

test("a token is added to a chain by another run after the owners sign its cap, and the deployment file lists it", async () => {
	const own = (name: string) => at(join("token", name));
	mkdirSync(own(""));
	const { chains: _, ...others } = JSON.parse(readFileSync(at("geoswap.json"), "utf8"));
	writeFileSync(own("geoswap.json"), JSON.stringify({ ...others, chains: {} }));
	// Another deployer has other contracts on the same chain.
	await base.testClient.setBalance({ address: addressOf("other deployer"), value: parseEther("10") });
	const change = { configPath: own("geoswap.json"), deployerKey: keyOf("other deployer") };
	const files = () => [own("deployment.json"), own("geoswap.json")].map((name) => readFileSync(name, "utf8"));
	const symbols = () =>
		readConfig(own("geoswap.json")).chains[0]?.deployment.assets.map(({ symbol }) => symbol);

	await add(change, [], applySettings(base.preset, { settings: [], without: ["cbBTC"] }));
	expect(symbols()).toEqual(["ETH", "WETH", "USDC", "USDT"]);
	const before = files();
	expect(states(await add(change)).contracts).toBe("waiting");
	expect(files()).toEqual(before);
	for (const isLater of [false, true]) {
		if (isLater) await passDelay();
		await add(change);
		const { transactions } = JSON.parse(readFileSync(own("chains/8453.config-safe.json"), "utf8"));
		expect(transactions).toHaveLength(1);
		await signAsOwners(transactions);
	}
	expect(states(await add(change))).toMatchObject({ contracts: "done", configuration: "done already" });
	expect(symbols()).toEqual(["ETH", "WETH", "USDC", "USDT", "cbBTC"]);
	const [deployment, configuration] = files();
	expect(configuration).toBe(before[1]);
	const chainOf = (text = "") => JSON.parse(text).chains[0];
	const { assets, ...rest } = chainOf(deployment);
	const { assets: assetsBefore, ...restBefore } = chainOf(before[0]);
	expect([assets.slice(0, -1), rest]).toEqual([assetsBefore, restBefore]);
});

test("an endpoint of another chain ends the run before anything is read from it", async () => {
	const preset = expectEvm(readPreset("arbitrum"));
	const reports: StepReport[] = [];
	const options = {
		configPath: at("geoswap.json"),
		rpcUrls: [base.rpcUrl],
		webSocketUrls: [],
		isDryRun: true,
	} as unknown as AddOptions;
	await addChain(preset, options, (report) => void reports.push(report));
	expect(states(reports)).toEqual({ endpoints: "failed" });
	expect(linesOf(reports, "endpoints").at(-1)).toMatch(/^the endpoint is chain 8453, not 42161/);
});

test("a chain with a fee model other than its preset's is refused, and nothing is changed", async () => {
	const before = readFileSync(at("geoswap.json"), "utf8");
	const reports = await add({}, [], { ...base.preset, kind: "eip1559" });
	expect(states(reports)).toEqual({ endpoints: "failed" });
	expect(linesOf(reports, "endpoints").at(-1)).toMatch(
		/: the chain charges by the fee model op-stack .* 3 recent transactions .*, not eip1559; correct the kind/,
	);
	// The node charges no fee for data.
	const plain = await add({ rpcUrls: [base.rpcUrl] });
	expect(states(plain)).toEqual({ endpoints: "failed" });
	expect(linesOf(plain, "endpoints").at(-1)).toMatch(/fee model eip1559 .*, not op-stack/);
	expect(readFileSync(at("geoswap.json"), "utf8")).toBe(before);
});

test("values without a source are requested as options, and tokens without a heartbeat are left out with the reason", () => {
	const bnb = expectEvm(readPreset("bnb"));
	expect(missingValues(bnb, { seenFinalitySeconds: 2 })).toEqual([
		"--set feeds.USDC/USD.heartbeatSeconds=<seconds, from data.chain.link>",
	]);
	expect(missingValues(expectEvm(readPreset("base-sepolia")), { seenFinalitySeconds: 900 })).toContain(
		"--set terms.finalitySeconds=<how long a block takes to be final, generously; the node's finalized block is 900 s old now>",
	);
	expect(tokensLeftOut(bnb).map(({ symbol }) => symbol)).toEqual(["USDC", "USDT", "BTCB"]);
	const given = applySettings(bnb, { settings: ["feeds.USDC/USD.heartbeatSeconds=86400"], without: [] });
	expect(missingValues(given, { seenFinalitySeconds: 2 })).toEqual([]);
	expect(tokensLeftOut(given).map(({ symbol }) => symbol)).toEqual(["USDT", "BTCB"]);
});

test("tips are at least the minimum that the chain's nodes accept, and two hosts must agree on large deposits", () => {
	const of = (slug: string, rpcUrls: string[]) =>
		chainTermsOf(expectEvm(readPreset(slug)), {
			rpcUrls,
			webSocketUrls: [],
			onlyAccounts: [],
			maximumUsd: 10_000,
		}).terms;
	expect(of("polygon", ["https://a.example"])).toMatchObject({
		minimumTipWei: "25000000000",
		maximumTipWei: "100000000000",
		unreleasedCapUsd: 25_000,
	});
	expect(of("arbitrum", ["https://a.example"])).toMatchObject({ minimumTipWei: "0", maximumTipWei: "0" });
	expect(of("bnb", ["https://a.example/1", "https://a.example/2"])).not.toHaveProperty("agreeAboveUsd");
	expect(of("bnb", ["https://a.example", "https://b.example"])).toMatchObject({ agreeAboveUsd: 1_000 });
});
