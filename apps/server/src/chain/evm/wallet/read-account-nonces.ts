import type { Address } from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";

/** The wallet's next nonce at the newest block, and after its pending transactions. */
export type AccountNonces = { latest: number; pending: number };

export async function readAccountNonces(chain: EvmChain, wallet: Address): Promise<AccountNonces> {
	const [latest, pending] = await Promise.all([
		readAccountNonce(chain, wallet, "latest"),
		readAccountNonce(chain, wallet, "pending"),
	]);
	return { latest, pending };
}

/** Reads one of the two nonces. */
export function readAccountNonce(
	{ chainId, client }: EvmChain,
	wallet: Address,
	blockTag: keyof AccountNonces,
): Promise<number> {
	return requestChain(chainId, client.getTransactionCount({ address: wallet, blockTag }));
}
