import type { TestChain } from "@geoswap/devnet";
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseGwei } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";

/** Signs a transfer by the wallet itself that comes before everything else in its block. */
export async function signUrgentTransfer(
	{ chainId, publicClient }: TestChain,
	account: PrivateKeyAccount,
	{ token, to, amount }: { token: Address; to: Address; amount: bigint },
): Promise<Hex> {
	return account.signTransaction({
		type: "eip1559",
		chainId,
		nonce: await publicClient.getTransactionCount({ address: account.address }),
		to: token,
		data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
		gas: 100_000n,
		maxPriorityFeePerGas: parseGwei("100"),
		maxFeePerGas: parseGwei("1000"),
	});
}
