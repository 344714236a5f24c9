import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { solanaChainId } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Config } from "../../config/config.ts";
import { openDatabase } from "../../database/database.ts";
import { readyChecks } from "./ready-checks.ts";

const usdc: Hex = "0x00000000000000000000000000000000000000c1";
const weth: Hex = "0x00000000000000000000000000000000000000e2";

let engineStatus = 200;
const engine = createServer((request, response) => {
	response.statusCode = request.url === "/restate/health" ? engineStatus : 404;
	response.end("{}");
});

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
	await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
	engine.close();
	await database.drop();
});

const usual = () => ({
	ageMs: 400 as number | undefined,
	isFresh: true,
	staleFeeds: new Set<Hex>(),
	paused: new Set<Hex>(),
	pausedChains: new Map<number, string>(),
	redis: 1 as number | undefined,
});
let state = usual();
beforeEach(async () => {
	state = usual();
	engineStatus = 200;
	await database.owner.query("truncate chain_heads, inventory");
	for (const chainId of [1, solanaChainId]) {
		await database.owner.query("insert into chain_heads values ($1, 100, '', 1000, 1, 90, 990, 0, 0)", [
			chainId,
		]);
		await database.owner.query("insert into inventory values ($1, $2, 1, 1, 0, 1)", [
			chainId,
			hexToBytes(usdc),
		]);
	}
});

/** Returns the problems of the checks that report one. */
async function problems({ db = database.pool, engineUrl = urlOf(engine.address()) } = {}) {
	const asset = (symbol: string, address: string) => ({ symbol, address });
	const config = {
		chains: [
			{
				kind: "evm",
				chainId: 1,
				deployment: { name: "One", assets: [asset("USDC", usdc), asset("WETH", weth)] },
			},
			{
				kind: "solana",
				chainId: solanaChainId,
				deployment: { name: "Solana", assets: [asset("SOL", "11111111111111111111111111111111")] },
			},
		],
		restate: { ingressUrl: engineUrl, adminUrl: engineUrl },
	} as unknown as Config;
	const isDead = (token: Hex) => !state.isFresh || state.staleFeeds.has(token) || state.paused.has(token);
	const checks = readyChecks({
		config,
		db,
		redis: { run: async () => state.redis },
		priceCache: {
			ageMs: () => state.ageMs,
			isReady: () => state.isFresh,
			blockSeconds: () => 1,
		},
		desk: {
			isLive: ({ token }) => !isDead(token),
			stopOf: ({ token }) => {
				if (!isDead(token)) return undefined;
				const reason = state.staleFeeds.has(token) ? "reference-stale" : "references-differ";
				return { reason, symbol: token === weth ? "WETH" : "USDC" };
			},
		},
		pauses: { reasonOf: (chainId) => state.pausedChains.get(chainId) },
		nowMs: Date.now,
	});
	const said = await Promise.all(
		checks.map(async ({ name, check }) => ({ name, problem: await check().catch(() => "threw") })),
	);
	expect(JSON.stringify(said)).not.toMatch(/127\.0\.0\.1|http/);
	return Object.fromEntries(
		said.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem]])),
	);
}
function urlOf(address: AddressInfo | string | null): string {
	return `http://127.0.0.1:${(address as AddressInfo).port}`;
}

test("no problem is reported if everything works", async () => {
	expect(await problems()).toEqual({});
});

test("a paused chain is reported with the reason", async () => {
	state.pausedChains.set(1, "the books and the chain differ (I2)");
	expect(await problems()).toEqual({ "pause of One (1)": "paused: the books and the chain differ (I2)" });
});

test("an unreachable database, and an engine that fails or is unreachable, are reported", async () => {
	const gone = openDatabase({ url: "postgres://127.0.0.1:1/none", applicationName: "test" });
	expect(await problems({ db: gone })).toEqual({
		database: "threw",
		"worker on One (1)": "threw",
		[`worker on Solana (${solanaChainId})`]: "threw",
	});
	await gone.end();
	engineStatus = 503;
	expect(await problems()).toEqual({ engine: "threw" });
	expect(await problems({ engineUrl: "http://127.0.0.1:1" })).toEqual({ engine: "threw" });
});

test("a missing Redis is reported, with the note that each process counts its own limits", async () => {
	state.redis = undefined;
	expect(await problems()).toEqual({
		redis: "it does not answer; each process counts its own requests for the rate limits",
	});
});

test("missing or stale prices are reported for their chain, and a stale feed or a paused asset for the asset", async () => {
	state.isFresh = false;
	state.ageMs = 61_400;
	expect((await problems())["prices of One (1)"]).toBe("the newest prices are 61 s old");
	state.ageMs = undefined;
	expect((await problems())["prices of One (1)"]).toBe("no prices were read yet");
	state = { ...usual(), staleFeeds: new Set([weth]) };
	expect(await problems()).toEqual({
		"assets of One (1)": "not quoted: WETH, because the feed of WETH is stale",
	});
	state = { ...usual(), paused: new Set([weth]) };
	expect(await problems()).toEqual({
		"assets of One (1)": "not quoted: WETH, because two reference prices of WETH differ",
	});
	state = { ...usual(), staleFeeds: new Set([usdc]), paused: new Set([weth]) };
	expect((await problems())["prices of One (1)"]).toBe(
		"not quoted: USDC, because the feed of USDC is stale; WETH, because two reference prices of WETH differ",
	);
});

test("a chain that no worker follows, or whose vault no worker has read, is reported", async () => {
	await database.owner.query(
		"update chain_heads set updated_at = now() - interval '31 s' where chain_id = 1",
	);
	expect(await problems()).toEqual({
		"worker on One (1)": "no worker has followed the chain for 31 s",
	});
	await database.owner.query(
		"update chain_heads set updated_at = now() - interval '29 s' where chain_id = 1",
	);
	expect(await problems()).toEqual({});
	await database.owner.query("delete from inventory where chain_id = 1");
	expect(await problems()).toEqual({ "worker on One (1)": "no worker has seen the vault yet" });
	await database.owner.query("delete from chain_heads where chain_id = 1");
	expect(await problems()).toEqual({ "worker on One (1)": "no worker has followed the chain yet" });
});
