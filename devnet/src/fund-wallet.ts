import { setTimeout as sleep } from "node:timers/promises";
import type { ChainDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import { encodeFunctionData, erc20Abi, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { devTokenAbi, wrappedNativeAbi } from "./dev-contract-abi.ts";
import type { DevnetChain } from "./devnet-chain.ts";
import { type Call, sendAs } from "./send-as.ts";

const retryMs = 200;

/** Creates this amount of a token in a wallet. The zero address is the native token. */
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
	// Each call has its own sender, because many calls may run concurrently, and none should wait for another's nonce.
	const sender = privateKeyToAddress(generatePrivateKey());
	const isWrapped = token === deployment.wrappedNative;
	const ether = parseEther("1") + (isWrapped ? amount : 0n);
	const send = (call: Call) => sendWithEther(chain, { sender, ether, call });
	if (isWrapped) {
		const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: "deposit" });
		await send({ to: token, data, value: amount });
	}
	const data = isWrapped
		? encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [wallet, amount] })
		: encodeFunctionData({ abi: devTokenAbi, functionName: "mint", args: [wallet, amount] });
	await send({ to: token, data });
}

/**
 * Sends the call. Sets the sender's balance again on each try, because a balance set while the node makes a block can
 * be lost.
 */
async function sendWithEther(
	chain: DevnetChain,
	{ sender, ether, call }: { sender: Address; ether: bigint; call: Call },
): Promise<void> {
	for (let triesLeft = 20; ; triesLeft--) {
		await chain.testClient.setBalance({ address: sender, value: ether });
		try {
			await sendAs(chain, sender, call);
			return;
		} catch (error) {
			if (triesLeft === 0 || !/insufficient funds/i.test(String(error))) throw error;
			await sleep(retryMs);
		}
	}
}
