import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callMany } from "../src/call-many.ts";
import { devFeedAbi } from "../src/dev-contract-abi.ts";
import { deriveDevnetKeys } from "../src/devnet-keys.ts";
import {
	movePrice,
	type PriceMove,
	readFeeds,
	refreshFeeds,
	startTestChains,
	type TestChains,
} from "../src/index.ts";
import { parsePercent } from "../src/move-price.ts";

/** A pool stores its price with 96 fractional bits, so the rounding error is far below a millionth. */
const tolerance = 1e-6;

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
});
afterAll(() => chains.stop());

function expectMoved({ feed, pools }: PriceMove, factor: number): void {
	for (const { before, after } of [feed, ...pools]) {
		expect(Math.abs(Number(after) / Number(before) / factor - 1)).toBeLessThan(tolerance);
	}
}

test.each([
	["ETH", "+5", 1.05, ["USDC", "ORB"]],
	["WETH", "-5%", 0.95, ["USDC", "ORB"]],
	["orb", "+40", 1.4, ["USDC", "WETH"]],
	["ORB", "-60", 0.4, ["USDC", "WETH"]],
	["USDT", "-0.5", 0.995, ["USDC"]],
	["USDC", "+1.25", 1.0125, ["USDT", "WETH", "ORB"]],
	["ETH", "+900", 10, ["USDC", "ORB"]],
	["ETH", "-90", 0.1, ["USDC", "ORB"]],
])(
	"moving %s by %s changes its feed and all its pools by a factor of %d",
	async (symbol, percent, factor, against) => {
		for (const chain of [chains.origin, chains.destination]) {
			const move = await movePrice(chain, chain.deployment, { symbol, percent });
			expectMoved(move, factor);
			expect(move.pools.map((pool) => pool.against).sort()).toEqual(against.toSorted());
		}
	},
);

test("after several moves that cancel out, the pools are back at their first price", async () => {
	const { origin } = chains;
	const first = await movePrice(origin, origin.deployment, { symbol: "ORB", percent: "+25" });
	for (const percent of ["-20", "+100", "-50", "+25"]) {
		await movePrice(origin, origin.deployment, { symbol: "ORB", percent });
	}
	const last = await movePrice(origin, origin.deployment, { symbol: "ORB", percent: "-20" });
	for (const [i, pool] of last.pools.entries()) {
		expect(Math.abs(Number(pool.after) / Number(first.pools[i]?.before) - 1)).toBeLessThan(tolerance);
	}
});

test("a refreshed feed keeps a moved price", async () => {
	const { origin } = chains;
	const moved = await movePrice(origin, origin.deployment, { symbol: "ETH", percent: "+7" });
	await refreshFeeds(origin, origin.deployment);
	const feeds = await readFeeds(origin, origin.deployment);
	const eth = feeds.find(({ feed }) => feed === moved.feed.address);
	expect(Number(eth?.answer) / 1e8).toBe(Number(moved.feed.after));
});

test("a price that is set while a refresh is in flight is kept", async () => {
	const { origin } = chains;
	const { testClient, deployment } = origin;
	const [target] = await readFeeds(origin, deployment);
	if (!target) throw new Error("no feeds");
	// Both transactions wait for one block. The price was posted first, but the refresh could not read it yet.
	await testClient.setAutomine(false);
	const set = encodeFunctionData({ abi: devFeedAbi, functionName: "setAnswer", args: [target.answer * 2n] });
	const { market } = deriveDevnetKeys().actors;
	const posted = callMany(origin, market, [{ to: target.feed, data: set }]);
	await expect.poll(async () => (await testClient.getTxpoolStatus()).pending).toBe(1);
	const refreshed = refreshFeeds(origin, deployment);
	await expect.poll(async () => (await testClient.getTxpoolStatus()).pending).toBe(2);
	await testClient.mine({ blocks: 1 });
	await testClient.setAutomine(true);
	await testClient.mine({ blocks: 1 });
	await Promise.all([posted, refreshed]);
	const feeds = await readFeeds(origin, deployment);
	expect(feeds.find(({ feed }) => feed === target.feed)?.answer).toBe(target.answer * 2n);
});

test.each(["", "5x", "-100", "1e3", "--5", "-101"])("%j is not a percentage", (text) => {
	expect(() => parsePercent(text)).toThrow(RangeError);
});
