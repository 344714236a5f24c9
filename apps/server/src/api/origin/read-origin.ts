import { type Authorization, fromWord, type Order, SwapError, toChainId } from "@geoswap/protocol";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import {
	type AccountNonces,
	readAccountNonces,
	readWallet,
	type UnopenedOrder,
	type WalletReading,
} from "../../chain/evm/wallet/read-wallet.ts";

/** The state of an order's wallet that decides whether the order can be opened. */
export type OriginReading = {
	chain: EvmChain;
	order: Order;
	authorization: Authorization | undefined;
	reading: WalletReading;
	readNonces: () => Promise<AccountNonces>;
};

/** Reads the wallet of an order in one round of requests. Its nonces matter only for an authorization. */
export async function readOrigin({
	chain,
	order,
	authorization,
	unopened,
}: {
	chain: EvmChain;
	order: Order;
	authorization: Authorization | undefined;
	/** The wallet's other orders that have not yet taken the same token. */
	unopened: readonly UnopenedOrder[];
}): Promise<OriginReading> {
	const wallet = fromWord(order.wallet);
	const [reading, nonces] = await Promise.all([
		readWallet({ chain, order, unopened }),
		authorization && readAccountNonces(chain, wallet),
	]);
	const readNonces = async () => nonces ?? readAccountNonces(chain, wallet);
	return { chain, order, authorization, reading, readNonces };
}

/** Returns the chain on which the order is opened. */
export function originChain(chains: ReadonlyMap<number, EvmChain>, order: Order): EvmChain {
	const chain = chains.get(toChainId(order.originChainId));
	// The chain was served when the quote was issued.
	if (!chain) throw new SwapError("NO_ROUTE", { reason: "chain" });
	return chain;
}
