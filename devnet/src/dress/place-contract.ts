import type { Address, Hex } from "viem";
import type { DevnetChain } from "../devnet-chain.ts";
import { sendAs } from "../send-as.ts";

/**
 * Puts a contract at an address of the caller's choice, as if it had been created there. Its constructor runs at that
 * address, so that storage and immutable values are those of a contract that was deployed to it.
 */
export async function placeContract(
	chain: DevnetChain,
	from: Address,
	{ address, initCode }: { address: Address; initCode: Hex },
): Promise<void> {
	const { testClient, publicClient } = chain;
	// Code that creates a contract returns the contract's code, also if it is called.
	await testClient.setCode({ address, bytecode: initCode });
	const { data: code } = await publicClient.call({ account: from, to: address, gas: 20_000_000n });
	await sendAs(chain, from, { to: address });
	await testClient.setCode({ address, bytecode: code ?? "0x" });
}
