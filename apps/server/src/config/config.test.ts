import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSolana, solanaFeeds, startTestChains, type TestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atWorkerUrl } from "./at-worker-url.ts";
import { solanaChain } from "./chain-config.ts";
import { type ConfigFile, configSchema } from "./config.ts";
import { readConfig } from "./read-config.ts";
import { defaultTreasuryPolicy } from "./treasury-policy.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-config-"));
const path = join(folder, "config.json");
let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
	writeDeployment(chains.deployment);
});
afterAll(async () => {
	rmSync(folder, { recursive: true });
	await chains.stop();
});

function writeDeployment(deployment: TestChains["deployment"]): void {
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
}

const nodes = [{ url: "http://a" }];
const pace = { nodes, finalitySeconds: 5, openSeconds: 75, fillSeconds: 45, refundSeconds: 30 };
const file: ConfigFile = {
	deployment: "deployment.json",
	chains: { 31337: pace, 31338: pace },
	api: { port: 0 },
	worker: { port: 0 },
	restate: { ingressUrl: "http://a", adminUrl: "http://a" },
	attesters: [{ url: "http://a" }, { url: "http://b" }],
};

function read(change: Partial<ConfigFile> = {}) {
	writeFileSync(path, JSON.stringify({ ...file, ...change }));
	return readConfig(path);
}
const withPace = (change: Partial<typeof pace>, other: Partial<typeof pace> = change) => ({
	chains: { 31337: { ...pace, ...change }, 31338: { ...pace, ...other } },
});

test("deadlines that leave both chains time to become final are accepted, based on the slower chain", () => {
	expect(read().chains).toMatchObject([{ chainId: 31337 }, { chainId: 31338 }]);
	read(withPace({ finalitySeconds: 900, fillSeconds: 2_400, refundSeconds: 90_000 }, {}));
});

test.each<[string, Partial<typeof pace>, Partial<typeof pace>?]>([
	["openSeconds", { openSeconds: 60 }, {}],
	["fillSeconds", { fillSeconds: 10 }],
	["fillSeconds", { finalitySeconds: 40 }, {}],
	["refundSeconds", { refundSeconds: 10 }],
	["openSeconds, fillSeconds, refundSeconds", { refundSeconds: 259_000 }, {}],
])("a deadline that is too short or too long is refused: %s", (field, change, other) => {
	expect(() => read(withPace(change, other))).toThrow(`${field}: `);
});

test("swaps between chains need as many attesters as the set's threshold; swaps on one chain need none", () => {
	expect(() => read({ attesters: [{ url: "http://a" }] })).toThrow("attesters: chain 31337 needs 2");
	read({ attesters: [], chains: { 31337: pace } });
});

const tier = (name: string, minimum: string, discountPercent: number) => ({ name, minimum, discountPercent });
const discount = (tiers = [tier("a", "10", 5)], chainId = 31337) => ({ feeDiscount: { chainId, tiers } });

test("discount tiers must ascend, have unique names, and be on a chain whose deployment has the token", () => {
	read(discount([tier("a", "9", 5), tier("b", "10", 7.5), tier("c", "100", 100)]));
	expect(() => read(discount([tier("a", "10", 5), tier("a", "20", 6)]))).toThrow("two tiers have the name a");
	for (const second of [tier("b", "9", 6), tier("b", "10", 6), tier("b", "20", 5), tier("b", "20", 4)]) {
		expect(() => read(discount([tier("a", "10", 5), second]))).toThrow(
			"feeDiscount.tiers: b must have a higher minimum and a higher discountPercent than a",
		);
	}
	expect(() => read(discount(undefined, 1))).toThrow("feeDiscount.chainId: chain 1 is not configured");
	expect(() => read(discount([]))).toThrow("feeDiscount.tiers");
	expect(() => read(discount([tier("a", "0", 5)]))).toThrow("minimum");
	writeDeployment({
		...chains.deployment,
		chains: chains.deployment.chains.map(({ feeDiscountToken: _, ...chain }) => chain),
	});
	try {
		expect(() => read(discount())).toThrow("the deployment of chain 31337 has no feeDiscountToken");
	} finally {
		writeDeployment(chains.deployment);
	}
});

test("trusted proxies are addresses and networks, and never the whole internet", () => {
	const withProxies = (...trustedProxies: string[]) => read({ api: { port: 0, trustedProxies } });
	const proxies = ["127.0.0.1", "10.0.0.0/8", "192.0.2.7/32", "::1", "fd00::/8", "2001:db8::/128"];
	expect(withProxies(...proxies).api.trustedProxies).toEqual(proxies);
	for (const wrong of [
		"",
		"proxy.internal",
		"10.0.0",
		"10.0.0.0/33",
		"10.0.0.0/",
		"10.0.0.0/8/8",
		"::1/129",
	]) {
		expect(() => withProxies(wrong), wrong).toThrow("at api.trustedProxies[0]");
	}
	expect(() => withProxies("0.0.0.0/0")).toThrow("would accept every caller");
});

test("a worker that other machines can reach needs the engine's public keys; on loopback it does not", () => {
	const withKeys = (worker: ConfigFile["worker"], ...identityKeys: string[]) =>
		read({ worker, restate: { ingressUrl: "http://a", adminUrl: "http://a", identityKeys } });
	const key = "publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx";
	for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"]) withKeys({ port: 0, host });
	withKeys({ port: 0, publicUrl: "http://[::1]:9080" });
	for (const worker of [
		{ port: 0, host: "0.0.0.0" },
		{ port: 0, host: "::" },
		{ port: 0, host: "10.0.0.7" },
		{ port: 0, host: "127.attacker.example" },
		{ port: 0, publicUrl: "http://worker.internal:9080" },
	]) {
		expect(() => withKeys(worker), JSON.stringify(worker)).toThrow("restate.identityKeys: must not be empty");
		expect(withKeys(worker, key).restate.identityKeys).toEqual([key]);
	}
	expect(() => withKeys({ port: 0 }, "US517G5965")).toThrow(
		"a public key of Restate has the form publickeyv1_",
	);
});

test("a worker with a separate URL is called there, listens on its address if it has one, and needs the engine's public keys like any other", () => {
	const identityKeys = ["publickeyv1_US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx"];
	const signed = read({ restate: { ingressUrl: "http://a", adminUrl: "http://a", identityKeys } });
	const at = (url: string) => atWorkerUrl(signed, url).worker;
	expect(at("http://worker-1:9080")).toMatchObject({
		host: "127.0.0.1",
		port: 9080,
		publicUrl: "http://worker-1:9080",
	});
	expect(at("http://10.0.0.7:9080")).toMatchObject({ host: "10.0.0.7", port: 9080 });
	expect(at("http://[fd00::1]:9080/")).toMatchObject({ host: "fd00::1", publicUrl: "http://[fd00::1]:9080" });
	for (const wrong of [
		"worker-1:9080",
		"http://worker-1",
		"https://worker-1:9080",
		"http://worker-1:1/path",
	]) {
		expect(() => at(wrong), wrong).toThrow("is not of the form http://host:port");
	}
	const unsigned = read();
	expect(() => atWorkerUrl(unsigned, "http://worker-1:9080")).toThrow(
		"restate.identityKeys: must not be empty",
	);
	expect(atWorkerUrl(unsigned, "http://127.0.0.1:9080").worker.port).toBe(9080);
});

describe("if two chains settle in different tokens", () => {
	/** Reads the configuration with the second chain's settlement token under another name. */
	function readRenamed(price: ConfigFile["price"], deviationBps: number | undefined) {
		const [first, second] = chains.deployment.chains;
		if (!first || !second) throw new Error("there are two chains");
		const assets = second.assets.map((asset) => {
			if (asset.address !== second.settlementToken || !asset.feed) return asset;
			const { deviationBps: _, ...feed } = asset.feed;
			return { ...asset, symbol: "USDX", feed: { ...feed, ...(deviationBps && { deviationBps }) } };
		});
		writeDeployment({ ...chains.deployment, chains: [first, { ...second, assets }] });
		try {
			return read({ ...(price && { price }) });
		} finally {
			writeDeployment(chains.deployment);
		}
	}

	test("spread and option together must cover the deviation of both feeds", () => {
		const problem = "price.settlementSpreadBps: with price.optionCentibps.stable it charges 29 bps, but";
		expect(() => readRenamed({ settlementSpreadBps: 28 }, 25)).toThrow(problem);
		readRenamed({ settlementSpreadBps: 29 }, 25);
		read({ price: { settlementSpreadBps: 0 } });
	});

	test("the deployment must state the deviation of each feed", () => {
		expect(() => readRenamed({ settlementSpreadBps: 1_000 }, undefined)).toThrow(
			"chains.31338: the deployment must give the deviationBps of the feed of USDX",
		);
	});
});

test("Pyth must be configured if an asset has no feed, and may differ from a feed by more than the feed lags", () => {
	const pythId = `0x${"ab".repeat(32)}` as const;
	const readWith = (feeds: "both" | "pyth", pyth?: NonNullable<ConfigFile["price"]>["pyth"]) => {
		const [first, ...others] = chains.deployment.chains;
		if (!first) throw new Error("no chain");
		const assets = first.assets.map(({ feed, ...asset }) => {
			if (asset.symbol !== "ORB" || !feed) return { ...asset, ...(feed && { feed }) };
			return { ...asset, pythId, ...(feeds === "both" && { feed: { ...feed, deviationBps: 200 } }) };
		});
		writeDeployment({ ...chains.deployment, chains: [{ ...first, assets }, ...others] });
		try {
			return read({ price: { ...(pyth && { pyth }) } });
		} finally {
			writeDeployment(chains.deployment);
		}
	};
	const url = "https://hermes.example";
	expect(() => readWith("pyth")).toThrow(
		"price.pyth: is missing, but ORB of chains.31337 has no other price",
	);
	expect(readWith("pyth", { url }).price.pyth).toMatchObject({ maxAgeSeconds: 30, isRequired: false });
	expect(() => readWith("both", { url })).toThrow("price.pyth.deviationBps: must be above 200");
	readWith("both", { url, deviationBps: 201 });
	readWith("both");
});

test("a deny list is either a file, whose path is relative to the configuration, or a service", () => {
	expect(read({ denyList: { file: "denied.txt" } }).denyList?.file).toBe(join(folder, "denied.txt"));
	expect(read({ denyList: { url: "https://deny.example/check" } }).denyList).toEqual({
		url: "https://deny.example/check",
		timeoutMs: 1_000,
		cacheSeconds: 60,
	});
	for (const denyList of [{}, { file: "denied.txt", url: "https://deny.example" }]) {
		expect(() => read({ denyList })).toThrow("must have either a file or a url");
	}
});

test("a volatility for a symbol that no chain has is refused", () => {
	const volatilityPercent = { bySymbol: { WETH: 90, WBTC: 50 } };
	expect(() => read({ price: { volatilityPercent } })).toThrow(
		"price.volatilityPercent.bySymbol.WBTC: no chain's deployment has such an asset",
	);
});

test("terms of an asset that a chain's deployment does not have are refused", () => {
	const withTerms = (symbol: string) => {
		const assets = { [symbol]: { fromInventory: true } };
		return read({ chains: { 31337: { ...pace, assets }, 31338: pace } });
	};
	expect(withTerms("WETH").chains[0]?.assets).toEqual({ WETH: { fromInventory: true } });
	expect(() => withTerms("WBTC")).toThrow(
		"chains.31337.assets.WBTC: the chain's deployment has no such asset",
	);
});

test("the treasury plans by default, each field of its policy has a default, and what it cannot mean is refused", () => {
	const iris = { url: "https://iris-api.circle.com", timeoutMs: 5_000 };
	expect(read().treasury).toEqual({
		mode: "plan",
		planSeconds: 300,
		iris,
		manualRoutes: [],
		policy: defaultTreasuryPolicy,
	});
	const policy = { maxBridges: 2 };
	expect(read({ treasury: { mode: "off", policy } }).treasury).toEqual({
		mode: "off",
		planSeconds: 300,
		iris,
		manualRoutes: [],
		policy: { ...defaultTreasuryPolicy, maxBridges: 2 },
	});
	expect(() => read({ treasury: { mode: "on" as "plan" } })).toThrow("treasury.mode");
	expect(() => read({ treasury: { policy: { minBenefitPercent: 99 } } })).toThrow("minBenefitPercent");
	expect(() => read({ treasury: { policy: { refillRelayerHours: 6 } } })).toThrow(
		"treasury.policy.refillRelayerHours: must be above minRelayerHours",
	);
	const route = { from: 31337, to: 31338, seconds: 3_600, maxUsd: 1_000 };
	expect(read({ treasury: { manualRoutes: [route] } }).treasury.manualRoutes).toMatchObject([route]);
	for (const to of [31337, 9]) {
		expect(() => read({ treasury: { manualRoutes: [{ ...route, to }] } })).toThrow(
			"treasury.manualRoutes.0: must lead from one configured chain to another",
		);
	}
	const keep = (symbol: string, maxHeld: string) =>
		read({ chains: { 31337: { ...pace, assets: { [symbol]: { maxHeld } } }, 31338: pace } });
	expect(keep("WETH", "1.5").chains[0]?.assets.WETH?.maxHeld).toBe("1.5");
	expect(() => keep("WETH", "lots")).toThrow("must be an amount in whole tokens");
	expect(() => keep("USDC", "5")).toThrow(
		"chains.31337.assets.USDC.maxHeld: is for assets that are sold; for the settlement token set inventoryTargetUsd",
	);
});

const solanaPace = {
	nodes,
	finalitySeconds: 8,
	openSeconds: 75,
	fillSeconds: 60,
	refundSeconds: 30,
	blockhashSeconds: { least: 20, most: 35 },
};

function readWithSolana(
	change: Partial<NonNullable<ConfigFile["solana"]>> = {},
	other: Partial<ConfigFile> = {},
) {
	const [first] = chains.deployment.chains;
	if (!first) throw new Error("no chain");
	const solana = describeSolana({ genesisHash: "1".repeat(32), feeds: solanaFeeds(first) });
	writeDeployment({ ...chains.deployment, solana });
	try {
		return read({ solana: { ...solanaPace, ...change }, ...other });
	} finally {
		writeDeployment(chains.deployment);
	}
}

const quoterUrl = "https://quoter.example/swap/v2";

test("Solana is accepted if the deployment has it", () => {
	expect(solanaChain(readWithSolana())).toMatchObject({
		chainId: 792703809,
		deployment: { name: "Devnet Solana" },
	});
	readWithSolana({ spreadBps: { stable: 4, volatile: 15 } });
	readWithSolana({ quoter: { url: quoterUrl } });
	expect(() => read({ solana: solanaPace })).toThrow("solana: the deployment file has no such chain");
});

test.each<[string, Partial<NonNullable<ConfigFile["solana"]>>, Partial<ConfigFile>?]>([
	["solana.blockhashSeconds: least", { blockhashSeconds: { least: 35, most: 35 } }],
	["solana.openSeconds: must be at least 65", { openSeconds: 64 }],
	["solana.openSeconds: must be at most", { openSeconds: 901 }],
	["solana.openSeconds: must be above 60", { openSeconds: 60, blockhashSeconds: { least: 10, most: 20 } }],
	["fillSeconds: 48 from chain 31337 to chain 792703809", { fillSeconds: 48 }],
	["refundSeconds: ", { finalitySeconds: 20, refundSeconds: 30, fillSeconds: 100 }],
	["from chain 792703809 to chain 31337, but the escrow allows", { refundSeconds: 3 * 86_400 - 700 }],
	["solana.computePriceMicroLamports: must be at most", { computePriceMicroLamports: "5000001" }],
	[
		"solana.spreadBps.stable: with price.optionCentibps.stable it charges 4 bps",
		{ spreadBps: { stable: 3 } },
	],
	["solana.spreadBps.volatile: with price", { spreadBps: { volatile: 14 } }],
	[
		"it charges 29.99 bps, but the feed of SOL may be wrong by 30 bps",
		{ spreadBps: { volatile: 25 } },
		{ price: { optionCentibps: { stable: 100, volatile: 499 } } },
	],
	[
		"SOL may move by 25.5 bps in the 20 s of maxAgeSeconds",
		{ quoter: { url: quoterUrl, maxAgeSeconds: 20 } },
	],
	["solana.quoter.deviationBps: must be above 30", { quoter: { url: quoterUrl, deviationBps: 30 } }],
	["solana.unreleasedCapUsd: ", { unreleasedCapUsd: 1 }],
	["the feed of USDC is on chain 31337", {}, { chains: { 31338: pace } }],
	["attesters: chain 31337 needs 2", {}, { attesters: [], chains: { 31337: pace } }],
])("a Solana setting that would lose money or refuse every swap is refused: %s", (message, change, other) => {
	expect(() => readWithSolana(change, other)).toThrow(message);
});

test.each<[string, Partial<ConfigFile>]>([
	["list each origin", { api: { port: 0, corsOrigins: ["*"] } }],
	["an origin has", { api: { port: 0, corsOrigins: ["https://a.example/"] } }],
	["minimumUsd", { price: { minimumUsd: 5, maximumUsd: 5 } }],
	["unreleasedCapUsd", { price: { maximumUsd: 1_000_001 } }],
	["threshold", { earlierAttesterSets: [{ threshold: 0, attesters: [getAddress(`0x${"1".repeat(40)}`)] }] }],
	["feeBps", { price: { feeBps: 9.3755 } }],
	["highImpactBps", { price: { highImpactBps: 1 } }],
	["publicUrl", { worker: { port: 0, publicUrl: "here" } }],
])("an invalid value is refused with the name of its field: %s", (message, change) => {
	expect(() => read(change)).toThrow(message);
});

const withNodes = (all: ConfigFile["chains"][string]["nodes"], agreeAboveUsd?: number) => ({
	chains: {
		31337: { ...pace, nodes: all, ...(agreeAboveUsd === undefined ? {} : { agreeAboveUsd }) },
		31338: pace,
	},
});

test("two hosts must be able to agree on deposits above a value", () => {
	const two = [{ url: "http://a" }, { url: "http://b/key" }];
	expect(read(withNodes(two, 100)).chains[0]).toMatchObject({
		nodes: two.map(({ url }) => ({ url, roles: ["read", "send", "agree"] })),
		agreeAboveUsd: 100,
	});
	read(withNodes(two, 0));
	for (const others of [
		[],
		[{ url: "http://a/other-key" }],
		[{ url: "http://b", roles: ["read" as const, "send" as const] }],
	]) {
		expect(() => read(withNodes([{ url: "http://a" }, ...others], 100))).toThrow(
			"chains.31337.agreeAboveUsd: needs nodes of two hosts",
		);
	}
	expect(() => read(withNodes(two, -1))).toThrow("agreeAboveUsd");
});

test("a chain must have a node that reads and one that sends, and each URL must have its scheme", () => {
	read(
		withNodes([
			{ url: "http://a", webSocketUrl: "wss://a", roles: ["read"] },
			{ url: "https://b", roles: ["send"] },
		]),
	);
	expect(() => read(withNodes([]))).toThrow("chains.31337.nodes");
	expect(() => read(withNodes([{ url: "http://a", roles: ["read"] }]))).toThrow("no node has the role send");
	expect(() => read(withNodes([{ url: "http://a", roles: ["send"] }]))).toThrow("no node has the role read");
	expect(() => read(withNodes([{ url: "ws://a" }]))).toThrow("must begin with http: or https:");
	expect(() => read(withNodes([{ url: "http://a", webSocketUrl: "http://a" }]))).toThrow(
		"must begin with ws: or wss:",
	);
});

test("the example in docs/configuration.md is a valid configuration", () => {
	const page = readFileSync(join(import.meta.dirname, "../../../../docs/configuration.md"), "utf8");
	const example = /```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
	expect(() => configSchema.parse(JSON.parse(example))).not.toThrow();
});
