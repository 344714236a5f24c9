import {
	type Address,
	encodeFunctionData,
	getChainContractAddress,
	type Hex,
	multicall3Abi,
	prepareEncodeFunctionData,
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
