import { randomBytes } from "node:crypto";
import { startTestChains, type TestChains } from "@geoswap/devnet";
import {
	chainsResponseSchema,
	parseAddress,
	type SolanaDeployment,
	solanaChainId,
	tokensResponseSchema,
} from "@geoswap/protocol";
import { zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callRoute } from "../../../test/api/origin-scene.ts";
import { readTestPrices, testConfig, testPriceCache, withSolana } from "../../../test/desk/test-prices.ts";
import { testSolanaDeployment } from "../../../test/order/test-solana-deployment.ts";
import { createDesk } from "../../desk/create-desk.ts";
import { getChains } from "./get-chains.ts";
import { getTokens } from "./get-tokens.ts";

const accountId = "01890000-0000-7000-8000-000000000000";
const clock = { nowMs: 0 };
const paused = new Map<number, string>();

let testChains: TestChains;
let solana: SolanaDeployment;
let routes: { chains: ReturnType<typeof getChains>; tokens: ReturnType<typeof getTokens> };
beforeAll(async () => {
	testChains = await startTestChains();
	const { origin, destination } = testChains;
	solana = testSolanaDeployment(origin.deployment);
	const prices = await Promise.all([origin, destination].map((chain) => readTestPrices(chain, solana)));
	clock.nowMs = Math.max(...prices.map(({ timestampUnixSeconds }) => timestampUnixSeconds)) * 1_000;
	const config = withSolana(testConfig(testChains), { deployment: solana });
	// One feed has stopped, that of the first chain's other asset.
	const orb = origin.deployment.assets.find(({ symbol }) => symbol === "ORB");
	const stopped = orb && prices[0]?.assets.get(orb.address);
	if (!stopped) throw new Error("the devnet has no ORB");
	stopped.feed.updatedAtUnixSeconds = 1;
	const priceCache = testPriceCache(config, prices, clock);
	const desk = createDesk({
		config,
		priceCache,
		nowMs: () => clock.nowMs,
		random: (size) => randomBytes(size),
	});
	const pauses = { reasonOf: (chainId: number) => paused.get(chainId) };
	routes = { chains: getChains({ config, desk, pauses }), tokens: getTokens({ config, desk, pauses }) };
	await testChains.stop();
});
afterAll(() => testChains.stop());

async function chains() {
	return chainsResponseSchema.strict().parse(await callRoute(routes.chains, { accountId })).chains;
}
async function tokens(query: Record<string, unknown> = {}) {
	return tokensResponseSchema.strict().parse(await callRoute(routes.tokens, { accountId, query })).tokens;
}

test("every chain is listed with its contracts, without a call to the chain", async () => {
	const { origin, destination } = testChains;
	const { delegate, typedDelegate, escrow, vault } = origin.deployment.contracts;
	const listed = await chains();
	expect(listed.map(({ chainId }) => chainId)).toEqual([origin.chainId, destination.chainId, solanaChainId]);
	expect(listed[0]).toEqual({
		chainId: origin.chainId,
		name: origin.deployment.name,
		kind: "evm",
		nativeToken: zeroAddress,
		settlementToken: origin.deployment.settlementToken,
		contracts: { delegate, typedDelegate, escrow, vault, attesterSet: origin.deployment.attesterSet.hash },
		openSeconds: 75,
		finalitySeconds: 5,
		live: true,
	});
	expect(listed[2]).toEqual({
		chainId: solanaChainId,
		name: solana.name,
		kind: "solana",
		nativeToken: "11111111111111111111111111111111",
		settlementToken: solana.settlementToken,
		contracts: { escrow: solana.program.address, vault: solana.program.vault },
		openSeconds: 75,
		finalitySeconds: 10,
		live: true,
	});
});

test("every asset of every chain is listed with an address that a quote accepts; one whose feed stopped is not live", async () => {
	const { origin, destination } = testChains;
	const listed = await tokens();
	const offered = [origin.deployment, destination.deployment, solana].flatMap(({ chainId, assets }) =>
		assets.map(({ symbol, address, decimals, kind }) => ({ chainId, symbol, address, decimals, kind })),
	);
	expect(listed).toHaveLength(offered.length);
	expect(listed).toMatchObject(offered);
	for (const { chainId, address } of listed) expect(parseAddress(chainId, address)).toBeDefined();
	expect(listed.filter(({ native }) => native).map(({ symbol }) => symbol)).toEqual(["ETH", "ETH", "SOL"]);
	expect(listed.filter(({ live }) => !live)).toMatchObject([{ chainId: origin.chainId, symbol: "ORB" }]);
	expect(new Set(listed.map(({ minimumUsd, maximumUsd }) => `${minimumUsd}-${maximumUsd}`))).toEqual(
		new Set(["1.00-250000.00"]),
	);
});

test("a paused chain and its tokens are listed as paused, with the reason, and are not live", async () => {
	const { destination } = testChains;
	paused.set(destination.chainId, "maintenance");
	const isOfIt = ({ chainId }: { chainId: number }) => chainId === destination.chainId;
	try {
		for (const listed of [await chains(), await tokens()]) {
			for (const entry of listed.filter(isOfIt)) {
				expect(entry).toMatchObject({ live: false, paused: "maintenance" });
			}
			for (const entry of listed.filter((one) => !isOfIt(one))) expect(entry).not.toHaveProperty("paused");
			expect(listed.some((entry) => !isOfIt(entry) && entry.live)).toBe(true);
		}
	} finally {
		paused.clear();
	}
});

test("tokens can be filtered by chain id, and an unknown id is refused with a list of the known ones", async () => {
	const { origin, destination } = testChains;
	const of = async (chainId: string) => (await tokens({ chainId })).map((token) => token.chainId);
	expect(new Set(await of(String(destination.chainId)))).toEqual(new Set([destination.chainId]));
	expect(new Set(await of(String(solanaChainId)))).toEqual(new Set([solanaChainId]));
	await expect(tokens({ chainId: "1" })).rejects.toMatchObject({
		code: "INVALID_REQUEST",
		details: {
			issues: [
				{
					path: "chainId",
					message: `not a chain of this service; its chains are: ${origin.chainId}, ${destination.chainId}, ${solanaChainId}`,
				},
			],
		},
	});
	for (const chainId of ["", "0", "x", "-1", ["1", "2"]]) {
		await expect(tokens({ chainId })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
	}
});

test("a chain that only some accounts may use is listed to them, and neither it nor its tokens are listed to other accounts", async () => {
	const { origin, destination } = testChains;
	const allowed = "01890000-0000-7000-8000-000000000001";
	const config = testConfig(testChains);
	const onlySome = {
		...config,
		chains: config.chains.map((chain) =>
			chain.chainId === destination.chainId ? { ...chain, onlyAccounts: [allowed] } : chain,
		),
	};
	const parts = { config: onlySome, desk: { isLive: () => true }, pauses: { reasonOf: () => undefined } };
	const listed = async (id: string) =>
		chainsResponseSchema.parse(await callRoute(getChains(parts), { accountId: id })).chains;
	expect((await listed(accountId)).map(({ chainId }) => chainId)).toEqual([origin.chainId]);
	expect(await listed(allowed)).toHaveLength(2);
	const tokensFor = async (id: string) =>
		tokensResponseSchema.parse(await callRoute(getTokens(parts), { accountId: id })).tokens;
	expect(new Set((await tokensFor(accountId)).map(({ chainId }) => chainId))).toEqual(
		new Set([origin.chainId]),
	);
	const query = { chainId: String(destination.chainId) };
	await expect(callRoute(getTokens(parts), { accountId, query })).rejects.toMatchObject({
		details: { issues: [{ message: `not a chain of this service; its chains are: ${origin.chainId}` }] },
	});
	expect((await tokensFor(allowed)).map(({ chainId }) => chainId)).toContain(destination.chainId);
});

test("no chain or token is live once prices are stale", async () => {
	clock.nowMs += 120_000;
	try {
		expect((await chains()).map(({ live }) => live)).toEqual([false, false, false]);
		expect((await tokens()).some(({ live }) => live)).toBe(false);
	} finally {
		clock.nowMs -= 120_000;
	}
});
