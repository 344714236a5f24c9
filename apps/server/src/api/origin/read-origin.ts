import {
	type Authorization,
	addressOfWord,
	fromSolanaWord,
	fromWord,
	type Order,
	SwapError,
	toChainId,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import {
	type AccountNonces,
	readAccountNonces,
	readWallet,
	type UnopenedOrder,
	type WalletReading,
} from "../../chain/evm/wallet/read-wallet.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { isListed } from "../../chain/solana/read/read-listed.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import type { WalletUnopened } from "./wallet-unopened.ts";

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

/** Returns Solana. Throws if it is not offered with that token, as it was when the quote was issued. */
export function servedSolana(solana: SolanaChain | undefined, token: Hex): SolanaChain {
	if (!solana) throw new SwapError("NO_ROUTE", { reason: "chain" });
	if (!isListed(solana.deployment, token)) throw new SwapError("NO_ROUTE", { reason: "token" });
	return solana;
}

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
