import type { AssetDeployment, ChainDeployment } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	formatUnits,
	isAddressEqual,
	parseUnits,
	zeroAddress,
} from "viem";
import { devFeedAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { deriveDevnetKeys } from "./devnet-keys.ts";
import { feedDecimals } from "./devnet-tokens.ts";
import { integerSqrt } from "./integer-sqrt.ts";
import { type Call, sendAllAs } from "./send-as.ts";
import { factoryAbi, poolAbi, routerAbi } from "./uniswap-abi.ts";

export type PriceMove = {
	chainId: number;
	symbol: string;
	/** Prices in USD. */
	feed: { address: Address; before: string; after: string };
	/** Prices in the pool's other token. */
	pools: { address: Address; against: string; feePercent: string; before: string; after: string }[];
};

type Fraction = { numerator: bigint; denominator: bigint };

type Pool = {
	address: Address;
	fee: number;
	other: AssetDeployment;
	isToken0: boolean;
};

const percentDecimals = 6;

/**
 * Moves an asset's price by a percentage, in its feed and in every pool that has it. The asset moves alike against each
 * other token, so a path through a second pool still costs the same as the direct path.
 */
export async function movePrice(
	chain: DevnetChain,
	deployment: ChainDeployment,
	{ symbol, percent }: { symbol: string; percent: string },
): Promise<PriceMove> {
	const asset = findAsset(deployment, symbol);
	const { feed } = asset;
	if (!feed) throw new Error(`${symbol} has no feed on chain ${deployment.chainId}`);
	const factor = parsePercent(percent);
	const { market } = deriveDevnetKeys().actors;
	const pools = await poolsOf(chain, deployment, asset);

	const answer = await readAnswer(chain, feed.address);
	const newAnswer = (answer * factor.numerator) / factor.denominator;
	if (newAnswer <= 0n)
		throw new RangeError(`a move of ${percent} % would reduce the price of ${symbol} to zero`);
	const prices = await Promise.all(pools.map((pool) => readSqrtPrice(chain, pool)));
	const targets = pools.map((pool, i) => targetSqrtPrice(prices[i] ?? 0n, pool.isToken0, factor));

	const calls: Call[] = [];
	for (const [i, pool] of pools.entries()) {
		const [price, target] = [prices[i] ?? 0n, targets[i] ?? 0n];
		if (price !== target) calls.push(await swapTo(chain, deployment, asset, pool, price, target));
	}
	calls.push({
		to: feed.address,
		data: encodeFunctionData({ abi: devFeedAbi, functionName: "setAnswer", args: [newAnswer] }),
	});
	await sendAllAs(chain, market, calls);

	const pricesAfter = await Promise.all(pools.map((pool) => readSqrtPrice(chain, pool)));
	return {
		chainId: chain.chainId,
		symbol: asset.symbol,
		feed: {
			address: feed.address,
			before: formatUnits(answer, feedDecimals),
			after: formatUnits(await readAnswer(chain, feed.address), feedDecimals),
		},
		pools: pools.map((pool, i) => ({
			address: pool.address,
			against: pool.other.symbol,
			feePercent: formatUnits(BigInt(pool.fee), 4),
			before: formatPrice(prices[i] ?? 0n, asset, pool),
			after: formatPrice(pricesAfter[i] ?? 0n, asset, pool),
		})),
	};
}

function findAsset({ assets }: ChainDeployment, symbol: string): AssetDeployment {
	const asset = assets.find((asset) => asset.symbol.toLowerCase() === symbol.toLowerCase());
	if (asset) return asset;
	throw new RangeError(`no asset ${symbol}: choose one of ${assets.map((asset) => asset.symbol).join(", ")}`);
}

/** Parses "+5", "-2.5 %" and the like into the factor by which a price is multiplied. */
export function parsePercent(text: string): Fraction {
	const number = /^([+-]?\d+(?:\.\d{1,6})?)\s*%?$/.exec(text.trim())?.[1];
	const denominator = parseUnits("100", percentDecimals);
	const numerator =
		number === undefined ? 0n : denominator + parseUnits(number.replace("+", ""), percentDecimals);
	if (numerator <= 0n) {
		throw new RangeError(`"${text}" is not a percentage above -100: write +5 or -2.5, for instance`);
	}
	return { numerator, denominator };
}

/** Returns all pools that contain this asset and are part of some asset's path. */
async function poolsOf(
	{ publicClient }: DevnetChain,
	deployment: ChainDeployment,
	asset: AssetDeployment,
): Promise<Pool[]> {
	const { wrappedNative, settlementToken, assets, uniswap } = deployment;
	const own = tokenOf(asset);
	const found = new Map<string, Promise<Pool>>();
	for (const other of assets) {
		for (const [fee = 0, secondFee] of other.paths) {
			const last = tokenOf(other);
			const hops: [Address, Address, number][] =
				secondFee === undefined
					? [[settlementToken, last, fee]]
					: [
							[settlementToken, wrappedNative, fee],
							[wrappedNative, last, secondFee],
						];
			for (const [a, b, fee] of hops) {
				if (!isAddressEqual(a, own) && !isAddressEqual(b, own)) continue;
				const otherToken = isAddressEqual(a, own) ? b : a;
				const key = `${otherToken}-${fee}`;
				if (!found.has(key)) found.set(key, find(otherToken, fee));
			}
		}
	}
	return Promise.all(found.values());

	async function find(otherToken: Address, fee: number): Promise<Pool> {
		const other = assets.find(({ address }) => isAddressEqual(address, otherToken));
		if (!other) throw new Error(`a path goes through ${otherToken}, which is not an asset`);
		const address = await publicClient.readContract({
			address: uniswap.factory,
			abi: factoryAbi,
			functionName: "getPool",
			args: [own, otherToken, fee],
		});
		return { address, fee, other, isToken0: BigInt(own) < BigInt(otherToken) };
	}

	function tokenOf({ address }: AssetDeployment): Address {
		return address === zeroAddress ? wrappedNative : address;
	}
}

/** Returns the moved price. A pool's price is that of token 0 in token 1, so for token 1 it moves the other way. */
function targetSqrtPrice(sqrtPrice: bigint, isToken0: boolean, { numerator, denominator }: Fraction): bigint {
	const square = sqrtPrice * sqrtPrice;
	return integerSqrt(isToken0 ? (square * numerator) / denominator : (square * denominator) / numerator);
}

/** Returns a swap of the market's whole balance, which the pool stops at the target price. */
async function swapTo(
	{ publicClient }: DevnetChain,
	{ uniswap, wrappedNative }: ChainDeployment,
	asset: AssetDeployment,
	pool: Pool,
	sqrtPrice: bigint,
	target: bigint,
): Promise<Call> {
	const { market } = deriveDevnetKeys().actors;
	const own = asset.address === zeroAddress ? wrappedNative : asset.address;
	// A falling price takes token 0 in.
	const isOwnIn = target < sqrtPrice === pool.isToken0;
	const [tokenIn, tokenOut] = isOwnIn ? [own, pool.other.address] : [pool.other.address, own];
	const amountIn = await publicClient.readContract({
		address: tokenIn,
		abi: erc20Abi,
		functionName: "balanceOf",
		args: [market],
	});
	return {
		to: uniswap.router,
		data: encodeFunctionData({
			abi: routerAbi,
			functionName: "exactInputSingle",
			args: [
				{
					tokenIn,
					tokenOut,
					fee: pool.fee,
					recipient: market,
					amountIn,
					amountOutMinimum: 0n,
					sqrtPriceLimitX96: target,
				},
			],
		}),
	};
}

async function readSqrtPrice({ publicClient }: DevnetChain, { address }: Pool): Promise<bigint> {
	const [sqrtPriceX96] = await publicClient.readContract({ address, abi: poolAbi, functionName: "slot0" });
	return sqrtPriceX96;
}

async function readAnswer({ publicClient }: DevnetChain, feed: Address): Promise<bigint> {
	const [, answer] = await publicClient.readContract({
		address: feed,
		abi: devFeedAbi,
		functionName: "latestRoundData",
	});
	return answer;
}

/** Formats the asset's price in the pool's other token, in whole tokens. */
function formatPrice(sqrtPrice: bigint, asset: AssetDeployment, pool: Pool): string {
	const digits = 12;
	const square = sqrtPrice * sqrtPrice;
	const scale = 10n ** BigInt(digits + asset.decimals);
	const price = pool.isToken0 ? (square * scale) >> 192n : (scale << 192n) / square;
	return formatUnits(price / 10n ** BigInt(pool.other.decimals), digits);
}
