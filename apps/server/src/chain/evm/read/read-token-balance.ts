import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi } from "viem";
import type { EvmChain } from "../connect-chain.ts";

/** Reads the holder's current balance of a token. Stops waiting once the signal aborts. */
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
