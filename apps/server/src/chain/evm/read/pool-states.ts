import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	getAddress,
	numberToHex,
	parseAbi,
	prepareEncodeFunctionData,
	zeroAddress,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { callViews, type View, type ViewResult, wordsOf } from "./call-multicall.ts";
import type { PoolId } from "./ladder-questions.ts";

/** A pool that exists. */
export type Pool = PoolId & { address: Address };

const factoryAbi = parseAbi([
	"function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
]);
const poolAbi = parseAbi(["function slot0() view", "function liquidity() view"]);
const slot0Call = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });
const liquidityCall = encodeFunctionData({ abi: poolAbi, functionName: "liquidity" });
const balanceOf = prepareEncodeFunctionData({ abi: erc20Abi, functionName: "balanceOf" });

/** The number of calls that read one pool's state. */
export const viewsPerPool = 4;

export function poolKey({ tokens, fee }: PoolId): string {
	return `${[...tokens].sort().join()}:${fee}`;
}

/** Reads the pools from the factory, by their keys. A pool that does not exist is left out. */
export async function findPools(
	chain: EvmChain,
	{ ids, blockNumber }: { ids: readonly PoolId[]; blockNumber: bigint },
): Promise<Map<string, Pool>> {
	const views = ids.map(({ tokens: [a, b], fee }) => ({
		target: chain.deployment.uniswap.factory,
		callData: encodeFunctionData({ abi: factoryAbi, functionName: "getPool", args: [a, b, fee] }),
	}));
	const results = await callViews(chain, { views, blockNumber });
	return new Map(
		ids.flatMap((id, i) => {
			const [word = 0n] = wordsOf(results[i]);
			const address = getAddress(numberToHex(word, { size: 20 }));
			return address === zeroAddress ? [] : [[poolKey(id), { ...id, address }]];
		}),
	);
}

/**
 * Returns the calls that show whether a pool has changed. A swap changes the price in `slot0`. Liquidity that is added
 * or removed away from the price changes neither `slot0` nor `liquidity`, but the pool's balances. Added liquidity
 * changes them immediately, removed liquidity when it is collected, which is usual in the same transaction.
 */
export function stateViews({ address, tokens }: Pool): View[] {
	const callData = encodeFunctionData({ ...balanceOf, args: [address] });
	return [
		{ target: address, callData: slot0Call },
		{ target: address, callData: liquidityCall },
		...tokens.map((target) => ({ target, callData })),
	];
}

/** Returns the state as a text that can be compared. */
export function stateText(results: readonly ViewResult[]): string {
	return results.map(({ returnData }) => returnData).join();
}
