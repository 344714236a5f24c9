import type { Address } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { type WalletDelegation, walletDelegation } from "./wallet-delegation.ts";

/** Reads the wallet's delegation on this chain. */
export async function readDelegation(
	{ chainId, client, deployment }: EvmChain,
	wallet: Address,
): Promise<WalletDelegation> {
	const code = await requestChain(chainId, client.getCode({ address: wallet }));
	return walletDelegation(code, deployment.contracts);
}
