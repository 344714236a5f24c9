import type { ChainDeployment } from "@geoswap/protocol";
import { type Address, encodeFunctionData, encodePacked, erc20Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deriveDevnetKeys } from "../src/devnet-keys.ts";
import { devnetPools, devnetToken, unitsForUsd } from "../src/devnet-tokens.ts";
import { readFeeds, startTestChains, type TestChain, type TestChains } from "../src/index.ts";
import { sendAs } from "../src/send-as.ts";
import { factoryAbi, poolAbi, quoterAbi, routerAbi } from "../src/uniswap-abi.ts";

const { market } = deriveDevnetKeys().actors;

/** Sizes from a few cents to more than the depth around the price. */
const sizesUsd = ["0.05", "1000", "2000000", "80000000"];

const oneHop = devnetPools.flatMap(({ symbols: [a, b], fee }) => [
	{ symbols: [a, b], fees: [fee] },
	{ symbols: [b, a], fees: [fee] },
]);
const twoHops = [
	{ symbols: ["USDC", "WETH", "ORB"], fees: [500, 3000] },
	{ symbols: ["ORB", "WETH", "USDC"], fees: [3000, 500] },
	{ symbols: ["USDT", "USDC", "WETH"], fees: [100, 500] },
	{ symbols: ["WETH", "USDC", "USDT"], fees: [500, 100] },
];

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
});
afterAll(() => chains.stop());

test("every pool starts at the prices of its feeds, to a millionth", async () => {
	for (const { publicClient, deployment, ...chain } of [chains.origin, chains.destination]) {
		const feeds = await readFeeds({ publicClient, ...chain }, deployment);
		const assetOf = (symbol: string) => {
			const asset = deployment.assets.find((asset) => asset.symbol === symbol);
			const usd = Number(feeds.find(({ feed }) => feed === asset?.feed?.address)?.answer) / 1e8;
			if (!asset) throw new Error(`no asset ${symbol}`);
			return { ...asset, usdPerUnit: usd / 10 ** asset.decimals };
		};
		for (const { symbols, fee } of devnetPools) {
			const [token0, token1] = symbols
				.map(assetOf)
				.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
			if (!token0 || !token1) throw new Error("a pool has two tokens");
			const address = await publicClient.readContract({
				address: deployment.uniswap.factory,
				abi: factoryAbi,
				functionName: "getPool",
				args: [token0.address, token1.address, fee],
			});
			const [sqrtPriceX96] = await publicClient.readContract({
				address,
				abi: poolAbi,
				functionName: "slot0",
			});
			const price = (Number(sqrtPriceX96) / 2 ** 96) ** 2;
			expect(Math.abs((price * token1.usdPerUnit) / token0.usdPerUnit - 1)).toBeLessThan(1e-6);
		}
	}
});

describe.each(["origin", "destination"] as const)("on the %s chain", (side) => {
	test.each([...oneHop, ...twoHops])(
		"the router pays exactly the quoted amount for $symbols",
		async (route) => {
			const chain = chains[side];
			const [tokenIn] = route.symbols;
			for (const usd of sizesUsd) {
				const amountIn = unitsForUsd(devnetToken(tokenIn ?? ""), usd);
				const path = encodePath(chain.deployment, route);
				const quoted = await quote(chain, path, amountIn);
				expect(await swap(chain, route, path, amountIn)).toBe(quoted);
				expect(quoted).toBeGreaterThan(0n);
			}
		},
	);
});

test("every pool still quotes after an hour of chain time", async () => {
	const { origin } = chains;
	const before = await origin.publicClient.getBlock();
	await origin.testClient.increaseTime({ seconds: 3_600 });
	await origin.testClient.mine({ blocks: 1 });
	const after = await origin.publicClient.getBlock();
	expect(after.timestamp - before.timestamp).toBeGreaterThanOrEqual(3_600n);
	for (const route of [...oneHop, ...twoHops]) {
		const amountIn = unitsForUsd(devnetToken(route.symbols[0] ?? ""), "1000");
		expect(await quote(origin, encodePath(origin.deployment, route), amountIn)).toBeGreaterThan(0n);
	}
});

type Route = { symbols: string[]; fees: number[] };

function addressOf({ assets }: ChainDeployment, symbol: string | undefined): Address {
	const asset = assets.find((asset) => asset.symbol === symbol);
	if (!asset) throw new Error(`no asset ${symbol}`);
	return asset.address;
}

function encodePath(deployment: ChainDeployment, { symbols, fees }: Route): Hex {
	const [first, ...rest] = symbols.map((symbol) => addressOf(deployment, symbol));
	return rest.reduce(
		(path, token, i) => encodePacked(["bytes", "uint24", "address"], [path, fees[i] ?? 0, token]),
		first as Hex,
	);
}

async function quote({ publicClient, deployment }: TestChain, path: Hex, amountIn: bigint): Promise<bigint> {
	const { result } = await publicClient.simulateContract({
		address: deployment.uniswap.quoterV2,
		abi: quoterAbi,
		functionName: "quoteExactInput",
		args: [path, amountIn],
	});
	return result[0];
}

/** Swaps, and returns the amount that the market received. */
async function swap(chain: TestChain, { symbols }: Route, path: Hex, amountIn: bigint): Promise<bigint> {
	const token = addressOf(chain.deployment, symbols.at(-1));
	const balance = () =>
		chain.publicClient.readContract({
			address: token,
			abi: erc20Abi,
			functionName: "balanceOf",
			args: [market],
		});
	const before = await balance();
	await sendAs(chain, market, {
		to: chain.deployment.uniswap.router,
		data: encodeFunctionData({
			abi: routerAbi,
			functionName: "exactInput",
			args: [{ path, recipient: market, amountIn, amountOutMinimum: 0n }],
		}),
	});
	return (await balance()) - before;
}
