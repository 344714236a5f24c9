import { addressOfWord, fromSolanaWord, type Order } from "@geoswap/protocol";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { WalletUnopened } from "./wallet-unopened.ts";

/** Returns the wallet's balance of the order's input token, less what its other orders have not yet taken. */
export async function readSolanaAvailable({
	chain,
	order,
	unopened,
}: {
	chain: SolanaChain;
	order: Order;
	/**
	 * Read before the balance, so an order that takes its input in between is subtracted once too often, never once too
	 * little.
	 */
	unopened: readonly WalletUnopened[];
}): Promise<bigint> {
	const wallet = fromSolanaWord(order.wallet);
	const token = addressOfWord(order.originChainId, order.inputToken);
	const { balance } = await readSolanaWallet(chain, { wallet, token });
	const claimed = unopened.reduce((sum, { amount }) => sum + amount, 0n);
	return balance > claimed ? balance - claimed : 0n;
}
