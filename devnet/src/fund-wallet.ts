import type { ChainDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import { encodeFunctionData, erc20Abi, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { devTokenAbi, wrappedNativeAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { sendAs } from "./send-as.ts";

/** Gives a wallet so much of a token out of nothing. The zero address is the native token. */
export async function fundWallet(
	chain: DevnetChain,
	{
		deployment,
		wallet,
		token,
		amount,
	}: { deployment: ChainDeployment; wallet: Address; token: Address; amount: bigint },
): Promise<void> {
	const { testClient, publicClient } = chain;
	if (token === zeroAddress) {
		const balance = await publicClient.getBalance({ address: wallet });
		await testClient.setBalance({ address: wallet, value: balance + amount });
		return;
	}
	// A sender of its own: many may do this at once, and none is to wait for another's nonce.
	const sender = privateKeyToAddress(generatePrivateKey());
	const isWrapped = token === deployment.wrappedNative;
	await testClient.setBalance({ address: sender, value: parseEther("1") + (isWrapped ? amount : 0n) });
	if (isWrapped) {
		const deposit = encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" });
		await sendAs(chain, sender, { to: token, data: deposit, value: amount });
	}
	const data = isWrapped
		? encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [wallet, amount] })
		: encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [wallet, amount] });
	await sendAs(chain, sender, { to: token, data });
}
