import { accountSlot, geoAccountAbi } from "@geoswap/protocol";
import { type Address, hexToBigInt } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import type { WalletDelegation } from "./wallet-delegation.ts";

const uint64 = (1n << 64n) - 1n;

/**
 * Reads how often the wallet's mandates were revoked on this chain. It is known regardless of the wallet's delegation.
 */
export async function readEpoch(
	{ chainId, client }: Pick<EvmChain, "chainId" | "client">,
	wallet: Address,
): Promise<bigint> {
	const word = await requestChain(chainId, client.getStorageAt({ address: wallet, slot: accountSlot }));
	return hexToBigInt(word ?? "0x0") & uint64;
}

/** Returns the escrow in whose domain the owner of a wallet signs, if one of the service's delegates is its code. */
export async function readAccountEscrow(
	{ chainId, client, deployment }: EvmChain,
	wallet: Address,
	{ kind }: Pick<WalletDelegation, "kind">,
): Promise<Address> {
	if (kind === "ours") return deployment.contracts.escrow;
	// An earlier account pays an earlier escrow.
	const call = { address: wallet, abi: geoAccountAbi, functionName: "ESCROW" } as const;
	return requestChain(chainId, client.readContract(call));
}
