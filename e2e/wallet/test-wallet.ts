import { devTokenAbi, type TestChain } from "@geoswap/devnet";
import { type Address, encodeFunctionData, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { assetAddress } from "./make-order.ts";
import { sendTransaction, signDelegation } from "./send-bundle.ts";

/** Creates a wallet that holds 10 USDC and not one wei. */
export async function fundedWallet(chain: TestChain, relayer: PrivateKeyAccount): Promise<PrivateKeyAccount> {
	const wallet = privateKeyToAccount(generatePrivateKey());
	await mintUsdc({ chain, relayer, to: wallet.address, amount: 10_000_000n });
	return wallet;
}

/** Creates a wallet that holds 10 USDC and is already delegated. */
export async function delegatedWallet(
	chain: TestChain,
	relayer: PrivateKeyAccount,
): Promise<PrivateKeyAccount> {
	const wallet = await fundedWallet(chain, relayer);
	const authorization = await signDelegation(chain, wallet);
	await sendTransaction({ chain, account: relayer, to: wallet.address, authorizationList: [authorization] });
	return wallet;
}

/** Creates USDC of the devnet for a recipient. */
export async function mintUsdc({
	chain,
	relayer,
	to,
	amount,
}: {
	chain: TestChain;
	relayer: PrivateKeyAccount;
	to: Address;
	amount: bigint;
}): Promise<void> {
	const data = encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [to, amount] });
	await sendTransaction({ chain, account: relayer, to: assetAddress(chain, "USDC"), data });
}

/** Gives ether to a wallet that sends its own transaction. */
export async function fundEther(chain: TestChain, address: Address): Promise<void> {
	await chain.testClient.setBalance({ address, value: parseEther("1") });
}
