import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	getChainContractAddress,
	type Hex,
	hexToBigInt,
	multicall3Abi,
	prepareEncodeFunctionData,
	size,
	slice,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** A read-only call. */
export type View = { target: Address; callData: Hex };

// Prepared once, because viem otherwise hashes the function's name at each call.
const aggregate3 = prepareEncodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3" });

/** Encodes the one call to Multicall3 that makes all of these calls. */
export function encodeViews(
	views: readonly View[],
	{ allowFailure }: { /** One that fails does not make the others fail. */ allowFailure: boolean },
): Hex {
	return encodeFunctionData({ ...aggregate3, args: [views.map((view) => ({ ...view, allowFailure }))] });
}

/** Calls Multicall3, at the newest block unless another is named. The answer is empty on a chain without Multicall3. */
export async function callMulticall(
	chain: EvmChain,
	data: Hex,
	{ blockNumber }: { blockNumber?: bigint } = {},
): Promise<Hex> {
	const to = multicallAddress(chain);
	const { data: answer = "0x" } = await chain.client.call({
		to,
		data,
		...(blockNumber !== undefined && { blockNumber }),
	});
	return answer;
}

export function multicallAddress({ client }: EvmChain): Address {
	return getChainContractAddress({ chain: client.chain, contract: "multicall3" });
}

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
