import { type Authorization, fromWord, type Order, SwapError, toChainId } from "@geoswap/protocol";
import type { EvmChain } from "../chain/evm/chain-client.ts";
import { type AccountNonces, readAccountNonces } from "../chain/evm/read-account-nonces.ts";
import { readWallet, type WalletReading } from "../chain/evm/read-wallet.ts";
import type { Database } from "../store/database.ts";
import { walletUnopened } from "../store/wallet-unopened.ts";

/** What of an order's wallet decides whether it can be opened. */
export type OriginReading = {
	chain: EvmChain;
	order: Order;
	authorization: Authorization | undefined;
	reading: WalletReading;
	readNonces: () => Promise<AccountNonces>;
};

/** Reads the wallet of an order in one round of requests. Its nonces matter only to an authorization. */
export async function readOrigin({
	chain,
	db,
	order,
	authorization,
	nowMs,
}: {
	chain: EvmChain;
	db: Database;
	order: Order;
	authorization: Authorization | undefined;
	nowMs: number;
}): Promise<OriginReading> {
	const wallet = fromWord(order.wallet);
	const unopened = await walletUnopened(db, { order, nowMs });
	const [reading, nonces] = await Promise.all([
		readWallet({ chain, order, unopened }),
		authorization && readAccountNonces(chain, wallet),
	]);
	const readNonces = async () => nonces ?? readAccountNonces(chain, wallet);
	return { chain, order, authorization, reading, readNonces };
}

/** The chain on which the order is opened. */
export function originChain(chains: ReadonlyMap<number, EvmChain>, order: Order): EvmChain {
	const chain = chains.get(toChainId(order.originChainId));
	// It was served when the quote was issued.
	if (!chain) throw new SwapError("NO_ROUTE", { reason: "chain" });
	return chain;
}
