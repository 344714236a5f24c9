import { decodeFunctionResult, type Hex, hexToBigInt, multicall3Abi, size, slice } from "viem";
import type { EvmChain } from "../connect-chain.ts";
import { callMulticall, encodeViews, type View } from "./call-multicall.ts";

/** The outcome of one of many calls. */
export type ViewResult = { success: boolean; returnData: Hex };

/** Makes all calls at one block, in one request. A call that fails does not make the others fail. */
export async function callViews(
	chain: EvmChain,
	{ views, blockNumber }: { views: readonly View[]; blockNumber: bigint },
): Promise<readonly ViewResult[]> {
	if (views.length === 0) return [];
	return decodeViews(await callEncoded(chain, encodeViews(views, { allowFailure: true }), { blockNumber }));
}

/** Makes calls that are already encoded. Throws if the chain has no Multicall3. */
export async function callEncoded(
	chain: EvmChain,
	callData: Hex,
	{ blockNumber }: { blockNumber: bigint },
): Promise<Hex> {
	const answer = await callMulticall(chain, callData, { blockNumber });
	if (answer !== "0x") return answer;
	throw new Error(
		`chain ${chain.chainId} has no Multicall3 at its usual address, which is needed to read prices`,
	);
}

export function decodeViews(answer: Hex): readonly ViewResult[] {
	return decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: answer });
}

/** Returns the words of an answer; none if the call failed. */
export function wordsOf(result: ViewResult | undefined): bigint[] {
	if (!result?.success) return [];
	const { returnData } = result;
	return Array.from({ length: Math.floor(size(returnData) / 32) }, (_, i) =>
		hexToBigInt(slice(returnData, i * 32, i * 32 + 32)),
	);
}
