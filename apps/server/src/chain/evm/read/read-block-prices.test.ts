import {
	fundWallet,
	movePrice,
	routerAbi,
	startTestChains,
	type TestChain,
	type TestChains,
} from "@geoswap/devnet";
import fc from "fast-check";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	getAddress,
	type Hex,
	maxUint128,
	maxUint256,
	numberToHex,
	parseAbi,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { connectChain, type EvmChain } from "../connect-chain.ts";
import { ladderMaxAgeSeconds } from "./known-ladders.ts";
import { type BlockPrices, readBlockPrices } from "./read-block-prices.ts";

const positionsAbi = parseAbi([
	"struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
	"struct DecreaseParams { uint256 tokenId; uint128 liquidity; uint256 amount0Min; uint256 amount1Min; uint256 deadline; }",
	"struct CollectParams { uint256 tokenId; address recipient; uint128 amount0Max; uint128 amount1Max; }",
	"function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
	"function decreaseLiquidity(DecreaseParams params) payable returns (uint256 amount0, uint256 amount1)",
	"function collect(CollectParams params) payable returns (uint256 amount0, uint256 amount1)",
	"function multicall(bytes[] data) payable returns (bytes[] results)",
	"function positionManager() view returns (address)",
	"function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
	"function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint32, bool)",
]);

const topUsd = 500_000;
const fee = 3_000;
const tickSpacing = 60;
const trader = getAddress(numberToHex(0x7ade, { size: 20 }));

let chains: TestChains;
let origin: TestChain;
let chain: EvmChain;
let positionManager: Address;
let tokens: [Address, Address];
beforeAll(async () => {
	chains = await startTestChains();
	origin = chains.origin;
	const { deployment, chainId, rpcUrl, publicClient } = origin;
	chain = connectChain({ chainId, rpcUrl, deployment });
	tokens = [tokenOf("ORB"), tokenOf("USDC")].sort((a, b) =>
		BigInt(a) < BigInt(b) ? -1 : 1,
	) as typeof tokens;
	const { router } = deployment.uniswap;
	positionManager = await publicClient.readContract({
		address: router,
		abi: positionsAbi,
		functionName: "positionManager",
	});
	await origin.testClient.impersonateAccount({ address: trader });
	await origin.testClient.setBalance({ address: trader, value: 10n ** 20n });
	for (const token of tokens) {
		await fundWallet(origin, { deployment, wallet: trader, token, amount: 10n ** 26n });
		for (const spender of [router, positionManager]) {
			await send(
				token,
				encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, maxUint256] }),
			);
		}
	}
});
afterAll(() => chains.stop());
beforeEach(() => {
	vi.restoreAllMocks();
});

type Step =
	| { kind: "quiet" }
	| { kind: "swap"; isBuy: boolean; usd: number }
	| { kind: "add"; ticksAway: number; usd: number }
	| { kind: "remove" }
	| { kind: "feed"; percent: string };

const steps: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 2, arbitrary: fc.constant<Step>({ kind: "quiet" }) },
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constant("swap" as const),
			isBuy: fc.boolean(),
			usd: fc.integer({ min: 1, max: 300_000 }),
		}),
	},
	{
		weight: 3,
		arbitrary: fc.record({
			kind: fc.constant("add" as const),
			ticksAway: fc.integer({ min: -3, max: 3 }),
			usd: fc.integer({ min: 1_000, max: 5_000_000 }),
		}),
	},
	{ weight: 2, arbitrary: fc.constant<Step>({ kind: "remove" }) },
	{
		weight: 1,
		arbitrary: fc.record({
			kind: fc.constant("feed" as const),
			percent: fc.constantFrom("0.3", "-0.3", "2.5"),
		}),
	},
);

test("after every block, prices equal those of a full read, regardless of what happens in the pools", async () => {
	const runs = process.env.GEOSWAP_FULL ? 400 : 24;
	const positions: bigint[] = [];
	let calls = 0;
	let previous = await read();
	const changed: Step[] = [];
	const counting = vi.spyOn(chain.client, "call");
	for (const step of fc.sample(steps, { numRuns: runs, seed: 11 })) {
		await take(step, positions);
		const from = counting.mock.calls.length;
		const next = await read(previous);
		calls += counting.mock.calls.length - from;
		const scratch = await read();
		expect(next.assets, JSON.stringify(step)).toEqual(scratch.assets);
		expect(next.feeds).toEqual(scratch.feeds);
		if (JSON.stringify(step) !== '{"kind":"quiet"}') changed.push(step);
		previous = next;
	}
	// Once a pool moves, its ladders are part of the light call, so that a busy pool needs no second call.
	expect(calls).toBeLessThan(1.5 * runs);
	expect(changed.length).toBeGreaterThan(runs / 2);
});

test("a quiet block costs one small call, a pool's first change a second one, and the changes after it none", async () => {
	let previous = await read(await read());
	for (let i = 0; i < 4; i++) previous = await read(previous);
	const counting = vi.spyOn(chain.client, "call");
	const callsOf = async (act: () => Promise<unknown>) => {
		await act();
		counting.mockClear();
		previous = await read(previous);
		return counting.mock.calls.map(([request]) => (request.data?.length ?? 0) / 2);
	};
	const quiet = await callsOf(() => origin.testClient.mine({ blocks: 1 }));
	expect(quiet).toHaveLength(1);
	const swap = () => take({ kind: "swap", isBuy: true, usd: 1_000 }, []);
	expect(await callsOf(swap)).toHaveLength(2);
	expect(await callsOf(swap)).toHaveLength(1);
	expect(await callsOf(swap)).toHaveLength(1);
	for (let i = 0; i < 3; i++) await callsOf(() => origin.testClient.mine({ blocks: 1 }));
	expect(await callsOf(() => origin.testClient.mine({ blocks: 1 }))).toEqual(quiet);
});

test("liquidity that is removed outside of the current price and not collected is noticed within half a minute", async () => {
	const positions: bigint[] = [];
	await take({ kind: "add", ticksAway: 1, usd: 5_000_000 }, positions);
	let previous = await read(await read());
	for (let i = 0; i < 4; i++) previous = await read(previous);
	const [tokenId = 0n] = positions;
	await send(positionManager, await decreaseData(tokenId));
	// The pool's price, liquidity at the price and balances are as before.
	expect((await read(previous)).assets).toBe(previous.assets);
	expect((await read()).assets).not.toEqual(previous.assets);
	await origin.testClient.increaseTime({ seconds: ladderMaxAgeSeconds });
	await origin.testClient.mine({ blocks: 1 });
	expect((await read(previous)).assets).toEqual((await read()).assets);
});

test.each([10_000_000n, 1_500_000n])(
	"a node that gives a call at most %s gas gives the same prices, and soon gets calls that fit",
	async (gas) => {
		const expected = await read();
		const { call } = chain.client;
		let isCapped = true;
		vi.spyOn(chain.client, "call").mockImplementation((request) =>
			call(isCapped ? ({ ...request, gas } as typeof request) : request),
		);
		const block = await chain.client.getBlock();
		let previous = await readBlockPrices(chain, { block, topUsd });
		expect(previous.assets).toEqual(expected.assets);
		// At the second swap the ladders are part of the light call, which may then be too large.
		for (let i = 0; i < 4; i++) {
			await take({ kind: "swap", isBuy: false, usd: 500 }, []);
			previous = await read(previous);
			isCapped = false;
			expect(previous.assets).toEqual((await read()).assets);
			isCapped = true;
		}
	},
);

test("a path whose pool does not exist has no ladder, and the others do", async () => {
	const { deployment } = chain;
	const assets = deployment.assets.map((asset) =>
		asset.symbol === "ORB" ? { ...asset, paths: [[10_000], ...asset.paths] } : asset,
	);
	const other = { ...chain, deployment: { ...deployment, assets } };
	const { assets: prices } = await readBlockPrices(other, { block: await chain.client.getBlock(), topUsd });
	const orb = prices.get(tokenOf("ORB"));
	expect(orb?.buy.map(({ rungs }) => rungs.length)).toEqual([0, 8, 8]);
	expect(orb?.sell.map(({ rungs }) => rungs.length)).toEqual([0, 8, 8]);
});

test("a rollup's uptime feed is read with each block: 0 means up, and a feed without an answer means down", async () => {
	const sequencerUptimeFeed = getAddress(numberToHex(0x5e9, { size: 20 }));
	const rollup = { ...chain, deployment: { ...chain.deployment, sequencerUptimeFeed } };
	let previous: BlockPrices | undefined;
	const statusIf = async (code: Hex) => {
		await origin.testClient.setCode({ address: sequencerUptimeFeed, bytecode: code });
		previous = await readBlockPrices(rollup, { block: await chain.client.getBlock(), topUsd, previous });
		return previous.sequencer;
	};
	// Returns five words, of which the second is the answer and the third the time of the last change.
	const saying = (answer: number, since: number): Hex =>
		`0x60${numberToHex(answer, { size: 1 }).slice(2)}60205263${numberToHex(since, { size: 4 }).slice(2)}60405260a06000f3`;
	expect(await statusIf(saying(0, 1_700_000_000))).toEqual({ isUp: true, sinceUnixSeconds: 1_700_000_000 });
	expect(await statusIf(saying(1, 1_700_000_100))).toEqual({ isUp: false, sinceUnixSeconds: 1_700_000_100 });
	expect(await statusIf(saying(0, 0))).toMatchObject({ isUp: false });
	expect(await statusIf("0x")).toMatchObject({ isUp: false });
	expect((await read()).sequencer).toBeUndefined();
});

test("an asset without a feed is sized and listed at the price of another source", async () => {
	const orb = tokenOf("ORB");
	const assets = chain.deployment.assets.map(({ feed, ...asset }) =>
		asset.symbol === "ORB" || !feed ? asset : { ...asset, feed },
	);
	const other = { ...chain, deployment: { ...chain.deployment, assets } };
	const block = await chain.client.getBlock();
	const answer = { usdE18: 2n * 10n ** 18n, updatedAtUnixSeconds: 5 };
	const without = await readBlockPrices(other, { block, topUsd });
	expect(without.assets.get(orb)?.sell.flatMap(({ rungs }) => rungs)).toEqual([]);
	const given = { block, topUsd, references: new Map([[orb, answer]]) };
	const priced = await readBlockPrices(other, { ...given, previous: without });
	expect(priced.assets.get(orb)?.feed).toEqual(answer);
	const top = priced.assets.get(orb)?.sell[0]?.rungs.at(-1)?.input ?? 0n;
	expect(Number(top / 10n ** 18n) / 250_000).toBeCloseTo(1, 2);
	const newer = new Map([[orb, { ...answer, updatedAtUnixSeconds: 7 }]]);
	const next = await readBlockPrices(other, { ...given, references: newer, previous: priced });
	expect(next.assets.get(orb)).toEqual({ ...priced.assets.get(orb), feed: newer.get(orb) });
});

async function read(previous?: BlockPrices): Promise<BlockPrices> {
	return readBlockPrices(chain, { block: await chain.client.getBlock(), topUsd, previous });
}

async function take(step: Step, positions: bigint[]): Promise<void> {
	switch (step.kind) {
		case "quiet":
			return origin.testClient.mine({ blocks: 1 });
		case "feed":
			await movePrice(origin, origin.deployment, { symbol: "ORB", percent: step.percent });
			return;
		case "swap": {
			const [tokenIn, tokenOut] = step.isBuy
				? [tokenOf("USDC"), tokenOf("ORB")]
				: [tokenOf("ORB"), tokenOf("USDC")];
			const amountIn = step.isBuy ? BigInt(step.usd) * 10n ** 6n : (BigInt(step.usd) * 10n ** 18n) / 3n;
			const params = { tokenIn, tokenOut, fee, recipient: trader, amountIn, amountOutMinimum: 0n };
			const data = encodeFunctionData({
				abi: routerAbi,
				functionName: "exactInputSingle",
				args: [{ ...params, sqrtPriceLimitX96: 0n }],
			});
			return send(origin.deployment.uniswap.router, data);
		}
		case "add": {
			const pool = await origin.publicClient.readContract({
				address: origin.deployment.uniswap.factory,
				abi: positionsAbi,
				functionName: "getPool",
				args: [...tokens, fee],
			});
			const [, tick] = await origin.publicClient.readContract({
				address: pool,
				abi: positionsAbi,
				functionName: "slot0",
			});
			const tickLower = (Math.floor(tick / tickSpacing) + step.ticksAway) * tickSpacing;
			const amount = (token: Address) =>
				BigInt(step.usd) * (token === tokenOf("USDC") ? 10n ** 6n : 10n ** 18n);
			const params = {
				token0: tokens[0],
				token1: tokens[1],
				fee,
				tickLower,
				tickUpper: tickLower + tickSpacing,
				amount0Desired: amount(tokens[0]),
				amount1Desired: amount(tokens[1]),
				amount0Min: 0n,
				amount1Min: 0n,
				recipient: trader,
				deadline: maxUint256,
			};
			const { result } = await origin.publicClient.simulateContract({
				account: trader,
				address: positionManager,
				abi: positionsAbi,
				functionName: "mint",
				args: [params],
			});
			positions.push(result[0]);
			return send(
				positionManager,
				encodeFunctionData({ abi: positionsAbi, functionName: "mint", args: [params] }),
			);
		}
		case "remove": {
			const tokenId = positions.pop();
			if (tokenId === undefined) return origin.testClient.mine({ blocks: 1 });
			const collect = encodeFunctionData({
				abi: positionsAbi,
				functionName: "collect",
				args: [{ tokenId, recipient: trader, amount0Max: maxUint128, amount1Max: maxUint128 }],
			});
			const args = [[await decreaseData(tokenId), collect]] as const;
			return send(
				positionManager,
				encodeFunctionData({ abi: positionsAbi, functionName: "multicall", args }),
			);
		}
	}
}

/** Returns the call that removes all liquidity of a position and leaves the tokens in the pool. */
async function decreaseData(tokenId: bigint): Promise<Hex> {
	const position = await origin.publicClient.readContract({
		address: positionManager,
		abi: parseAbi([
			"function positions(uint256 tokenId) view returns (uint96, address, address, address, uint24, int24, int24, uint128 liquidity, uint256, uint256, uint128, uint128)",
		]),
		functionName: "positions",
		args: [tokenId],
	});
	const params = { tokenId, liquidity: position[7], amount0Min: 0n, amount1Min: 0n, deadline: maxUint256 };
	return encodeFunctionData({ abi: positionsAbi, functionName: "decreaseLiquidity", args: [params] });
}

async function send(to: Address, data: Hex): Promise<void> {
	const { testClient, publicClient } = origin;
	const hash = await testClient.request<{
		Method: "eth_sendTransaction";
		Parameters: [Record<string, Hex>];
		ReturnType: Hex;
	}>({ method: "eth_sendTransaction", params: [{ from: trader, to, data, gas: numberToHex(4_000_000) }] });
	const { status } = await publicClient.waitForTransactionReceipt({ hash });
	expect(status).toBe("success");
}

function tokenOf(symbol: string): Address {
	const asset = origin.deployment.assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`no ${symbol}`);
	return asset.address;
}
