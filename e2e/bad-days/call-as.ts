import type { TestChain } from "@geoswap/devnet";
import type { Address, Hex, TransactionReceipt } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { sendTransaction } from "../wallet/send-bundle.ts";

/** Sends a transaction with a key of the operator, and waits until it has succeeded. */
export async function callAs(
	chain: TestChain,
	key: Hex,
	call: { to: Address; data?: Hex; value?: bigint },
): Promise<TransactionReceipt> {
	const receipt = await sendTransaction({ chain, account: privateKeyToAccount(key), ...call });
	if (receipt.status !== "success")
		throw new Error(`the call to ${call.to} failed: ${receipt.transactionHash}`);
	return receipt;
}
