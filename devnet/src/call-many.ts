import { type Address, encodeFunctionData, type Hex, multicall3Abi, type RpcTransactionReceipt } from "viem";
import { type DevnetChain, multicall3Address } from "./devnet-chain.ts";
import { sendAs } from "./send-as.ts";

/** Makes many calls in one transaction, all or none. The caller of the contracts is Multicall3. */
export function callMany(
	chain: DevnetChain,
	from: Address,
	calls: readonly { to: Address; data: Hex }[],
): Promise<RpcTransactionReceipt> {
	return sendAs(chain, from, {
		to: multicall3Address,
		data: encodeFunctionData({
			abi: multicall3Abi,
			functionName: "aggregate3",
			args: [calls.map(({ to, data }) => ({ target: to, callData: data, allowFailure: false }))],
		}),
	});
}
