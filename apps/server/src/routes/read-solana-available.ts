import { addressOfWord, fromSolanaWord, type Order } from "@geoswap/protocol";
import type { SolanaChain } from "../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../chain/solana/read-solana-wallet.ts";
import type { Database } from "../store/database.ts";
import { walletUnopened } from "../store/wallet-unopened.ts";

/** What the wallet has of the order's input token, less what its other orders have yet to take. */
export async function readSolanaAvailable({
	chain,
	db,
	order,
	nowMs,
}: {
	chain: SolanaChain;
	db: Database;
	order: Order;
	nowMs: number;
}): Promise<bigint> {
	const wallet = fromSolanaWord(order.wallet);
	const token = addressOfWord(order.originChainId, order.inputToken);
	// The orders first: one that takes its input meanwhile is subtracted once too often, never once too little.
	const unopened = await walletUnopened(db, { order, nowMs });
	const { balance } = await readSolanaWallet(chain, { wallet, token });
	const claimed = unopened.reduce((sum, { amount }) => sum + amount, 0n);
	return balance > claimed ? balance - claimed : 0n;
}
