import type { Address } from "viem";
import { askChain } from "../../ask-chain.ts";
import type { EvmChain } from "../chain-client.ts";

/** The wallet's next nonce at the newest block, and after its pending transactions. */
export type AccountNonces = { latest: number; pending: number };

export async function readAccountNonces(
	{ chainId, client }: EvmChain,
	wallet: Address,
): Promise<AccountNonces> {
	const [latest, pending] = await askChain(
		chainId,
		Promise.all([
			client.getTransactionCount({ address: wallet, blockTag: "latest" }),
			client.getTransactionCount({ address: wallet, blockTag: "pending" }),
		]),
	);
	return { latest, pending };
}
