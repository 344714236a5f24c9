import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi } from "viem";
import type { EvmChain } from "../chain-client.ts";

/** What the holder has of a token now. Nothing is waited for once the signal says so. */
export async function readTokenBalance(
	{ client }: EvmChain,
	{ token, holder, signal }: { token: Address; holder: Address; signal: AbortSignal },
): Promise<bigint> {
	const call = { abi: erc20Abi, functionName: "balanceOf" } as const;
	const { data = "0x" } = await client.call({
		to: token,
		data: encodeFunctionData({ ...call, args: [holder] }),
		requestOptions: { signal },
	});
	return decodeFunctionResult({ ...call, data });
}
