import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import { AccountState } from "@solana-program/token";
import type { Hex } from "viem";
import type { SolanaChain } from "./connect-solana.ts";
import { readAccounts } from "./read-accounts.ts";
import { heldIn, holdingAddress } from "./read-holdings.ts";

export type SolanaWalletReading = {
	/** Of the token. */
	balance: bigint;
	lamports: bigint;
	/** Whether it can be paid the token without an account being made: always so for lamports. */
	hasAccount: boolean;
	/** Whether it can be paid at all: not where its account for the token is another's, or frozen. */
	isPayable: boolean;
};

/** What a wallet has, at one slot. An account that is the wallet's by its address but not by its owner is not its own. */
export async function readSolanaWallet(
	chain: SolanaChain,
	{ wallet, token }: { wallet: SolanaAddress; token: Hex },
): Promise<SolanaWalletReading> {
	const held = { owner: wallet, token: fromSolanaWord(token) };
	const addresses = [wallet, await holdingAddress(held)];
	const {
		accounts: [own, holding],
	} = await readAccounts(chain, addresses, { commitment: "confirmed" });
	const isNative = held.token === solanaNativeToken;
	const account = isNative ? undefined : holding?.token;
	return {
		balance: heldIn(holding, held),
		lamports: own?.lamports ?? 0n,
		hasAccount: isNative || account?.owner === wallet,
		isPayable: !account || (account.owner === wallet && account.state !== AccountState.Frozen),
	};
}
