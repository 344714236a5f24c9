import type { TestChain } from "@geoswap/devnet";
import { type Address, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { sendTransaction, signDelegation } from "./send-bundle.ts";

/** Delegates the wallet, to the service's delegate or to another, by an authorization that a stranger pays for. */
export async function delegateWallet(
	chain: TestChain,
	wallet: PrivateKeyAccount,
	delegate: Address = chain.deployment.contracts.delegate,
): Promise<void> {
	// Each call has its own sender, because many run concurrently, and none should wait for another's nonce.
	const account = privateKeyToAccount(generatePrivateKey());
	await chain.testClient.setBalance({ address: account.address, value: parseEther("1") });
	const authorizationList = [await signDelegation(chain, wallet, delegate)];
	await sendTransaction({ chain, account, to: account.address, authorizationList });
}
