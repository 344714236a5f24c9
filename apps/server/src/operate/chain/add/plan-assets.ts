import { readFeed } from "@geoswap/contracts";
import { type AssetDeployment, vaultPath } from "@geoswap/protocol";
import { type Address, type Client, erc20Abi, type Hex, parseAbi, parseUnits, zeroAddress } from "viem";
import { readContract, simulateContract } from "viem/actions";
import type { EvmPreset } from "../preset-schema.ts";
import { type LeftOut, tokensLeftOut } from "./missing-values.ts";

/** The size in USD at which a path is tried, large enough to detect an empty pool. */
const triedUsd = 1_000n;

export type AssetPlan = {
	assets: AssetDeployment[];
	leftOut: LeftOut[];
	/** The vault's hourly cap of each asset, by symbol, in its smallest unit. */
	outflowCaps: Record<string, string>;
	/** Prices in USD with 18 decimals, by symbol. */
	usdE18: Record<string, bigint>;
};

/** Decides which assets the chain offers, and finds their pools. Only reads the chain. */
export async function planAssets(
	client: Client,
	preset: EvmPreset,
	{
		deviationBps,
		earlier = [],
	}: {
		deviationBps: number;
		/**
		 * Assets that are already deployed. Their paths are kept, because callers have them, and the best pool changes
		 * often.
		 */
		earlier?: readonly AssetDeployment[] | undefined;
	},
): Promise<AssetPlan> {
	const { native, tokens, feeds, settlementToken, terms } = preset;
	const venue = preset.venues[preset.venue];
	if (!venue) throw new Error(`the preset has no venue ${preset.venue}`);
	const wrappedNative = preset.wrappedNative.value;
	const leftOut = tokensLeftOut(preset);
	const settlement = tokens.find(({ symbol }) => symbol === settlementToken);
	if (!settlement) throw new Error(`the preset has no token ${settlementToken}`);
	const wrappedSymbol = await readContract(client, {
		address: wrappedNative,
		abi: erc20Abi,
		functionName: "symbol",
	});
	const candidates = [
		{ ...native, address: zeroAddress as Address, kind: "volatile" as const },
		{ ...native, symbol: wrappedSymbol, address: wrappedNative, kind: "volatile" as const },
		...tokens
			.filter(({ symbol }) => !leftOut.some((one) => one.symbol === symbol))
			.map((token) => ({ ...token, address: token.address.value })),
	];

	const plan: AssetPlan = { assets: [], leftOut, outflowCaps: {}, usdE18: {} };
	const capE18 = parseUnits(String(terms.outflowUsdPerHour.value ?? 0), 18);
	const settlementUsdE18 = await readUsdE18(settlement.feed);
	for (const { symbol, address, decimals, kind, feed: pair } of candidates) {
		const feed = feeds.find((one) => one.pair === pair);
		const heartbeatSeconds = feed?.heartbeatSeconds.value;
		if (!feed || !heartbeatSeconds) throw new Error(`${symbol} has no feed with a heartbeat`);
		const usdE18 = await readUsdE18(pair);
		const unit = 10n ** BigInt(decimals);
		const isSettlement = address === settlement.address.value;
		const amountIn = triedUsd * 10n ** BigInt(settlement.decimals);
		const known = earlier.find((one) => one.address === address);
		const paths = isSettlement
			? []
			: (known?.paths ??
				(await findPaths(client, {
					asset: address === zeroAddress ? wrappedNative : address,
					tokens: { settlementToken: settlement.address.value, wrappedNative },
					factory: venue.factory.value,
					quoterV2: venue.quoterV2.value,
					feeTiers: venue.feeTiers,
					amountIn,
					expected: (triedUsd * settlementUsdE18 * unit) / usdE18,
					deviationBps,
				})));
		if (!isSettlement && paths.length === 0) {
			const because = `no pool of ${preset.venue} sells it for ${settlementToken} near the feed's price`;
			plan.leftOut.push({ symbol, because });
			continue;
		}
		const { value: deviationPercent } = feed.deviationPercent;
		plan.assets.push({
			symbol,
			address,
			decimals,
			kind,
			feed: {
				address: feed.address.value,
				heartbeatSeconds,
				...(deviationPercent === null ? {} : { deviationBps: Math.ceil(deviationPercent * 100) }),
			},
			paths,
		});
		plan.outflowCaps[symbol] = String((capE18 * unit) / usdE18);
		plan.usdE18[symbol] = usdE18;
	}
	return plan;

	async function readUsdE18(pair: string | null): Promise<bigint> {
		const feed = feeds.find((one) => one.pair === pair);
		if (!feed) throw new Error(`the preset has no feed ${pair}`);
		const { answer, decimals } = await readFeed(client, { symbol: feed.pair, address: feed.address.value });
		return (answer * 10n ** 18n) / 10n ** BigInt(decimals);
	}
}

const factoryAbi = parseAbi([
	"function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
]);
const quoterAbi = parseAbi([
	"function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)",
]);

/** More paths cost a quote each block and rarely a better price. */
const maxPaths = 2;

/**
 * Finds pools on the chain, because no source lists where a token has liquidity. Tries each fee tier, and two through
 * the wrapped native token. Returns the best paths whose price is within `deviationBps` of the feeds.
 */
async function findPaths(
	client: Client,
	{
		asset,
		tokens,
		factory,
		quoterV2,
		feeTiers,
		amountIn,
		expected,
		deviationBps,
	}: {
		asset: Address;
		tokens: { settlementToken: Address; wrappedNative: Address };
		factory: Address;
		quoterV2: Address;
		feeTiers: readonly number[];
		/** In the settlement token. */
		amountIn: bigint;
		/** The amount that `amountIn` buys at the feeds' prices. */
		expected: bigint;
		deviationBps: number;
	},
): Promise<number[][]> {
	const { settlementToken, wrappedNative } = tokens;
	const direct = (await feesOfPools(settlementToken, asset)).map((fee) => [fee]);
	const isNative = asset === wrappedNative;
	const first = isNative ? [] : await feesOfPools(settlementToken, wrappedNative);
	const second = isNative ? [] : await feesOfPools(wrappedNative, asset);
	const throughNative = first.flatMap((one) => second.map((other) => [one, other]));
	const quoted: { fees: number[]; output: bigint }[] = [];
	// One at a time, because endpoints limit their request rate.
	for (const fees of [...direct, ...throughNative]) {
		const output = await quote(vaultPath(tokens, { asset, fees }));
		if (output !== undefined) quoted.push({ fees, output });
	}
	const tolerance = (expected * BigInt(deviationBps)) / 10_000n;
	return quoted
		.filter(({ output }) => output >= expected - tolerance && output <= expected + tolerance)
		.sort((one, other) => (one.output > other.output ? -1 : 1))
		.slice(0, maxPaths)
		.map(({ fees }) => fees);

	async function feesOfPools(one: Address, other: Address): Promise<number[]> {
		const pools = await Promise.all(
			feeTiers.map((fee) =>
				readContract(client, {
					address: factory,
					abi: factoryAbi,
					functionName: "getPool",
					args: [one, other, fee],
				}),
			),
		);
		return feeTiers.filter((_, i) => pools[i] !== zeroAddress);
	}

	/** Returns undefined if the pools have too little liquidity. */
	async function quote(path: Hex): Promise<bigint | undefined> {
		try {
			const { result } = await simulateContract(client, {
				address: quoterV2,
				abi: quoterAbi,
				functionName: "quoteExactInput",
				args: [path, amountIn],
			});
			return result[0];
		} catch {
			return undefined;
		}
	}
}
