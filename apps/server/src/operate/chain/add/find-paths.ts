import { vaultPath } from "@geoswap/protocol";
import { type Address, type Client, type Hex, parseAbi, zeroAddress } from "viem";
import { readContract, simulateContract } from "viem/actions";

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
export async function findPaths(
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
