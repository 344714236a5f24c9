import { fromSolanaWord, type SolanaAddress, solanaNativeToken, type Wei } from "@geoswap/protocol";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { AccountState, type Token } from "@solana-program/token";
import type { Hex } from "viem";
import type { SolanaChain } from "../connect-solana.ts";
import { type Account, readAccounts } from "./read-accounts.ts";
import { heldIn, holdingAddress } from "./read-holdings.ts";

export type SolanaWalletReading = {
	/** The wallet's balance of the token. */
	balance: bigint;
	lamports: Wei;
	/** True if the wallet can be paid the token without creating an account, which always holds for lamports. */
	hasAccount: boolean;
	/** The reason why the wallet cannot be paid the token; undefined if it can be. */
	payProblem: string | undefined;
	/** The reason why the wallet cannot be paid lamports as a top-up. */
	topUpProblem: string | undefined;
};

/** Reads a wallet's balances, at one slot. Its token account does not count if the account has another owner. */
export async function readSolanaWallet(
	chain: SolanaChain,
	{ wallet, token, signal }: { wallet: SolanaAddress; token: Hex; signal?: AbortSignal },
): Promise<SolanaWalletReading> {
	const held = { owner: wallet, token: fromSolanaWord(token) };
	const addresses = [wallet, await holdingAddress(held)];
	const {
		accounts: [own, holding],
	} = await readAccounts(chain, addresses, { commitment: "confirmed", signal });
	const isNative = held.token === solanaNativeToken;
	const account = isNative ? undefined : holding?.token;
	return {
		balance: heldIn(holding, held),
		lamports: own?.lamports ?? 0n,
		hasAccount: isNative || account?.owner === wallet,
		payProblem: isNative ? nativeProblem(own) : tokenProblem(account, wallet),
		topUpProblem: nativeProblem(own),
	};
}

/**
 * Returns why an account cannot be paid lamports. An account of another program is no wallet, even if it has a key,
 * because that program decides what happens to its lamports.
 */
function nativeProblem(account: Account | undefined): string | undefined {
	if (!account || account.program === SYSTEM_PROGRAM_ADDRESS) return undefined;
	return `the recipient is an account of the program ${account.program}, and not a wallet of the System Program`;
}

function tokenProblem(account: Token | undefined, wallet: SolanaAddress): string | undefined {
	if (!account || (account.owner === wallet && account.state !== AccountState.Frozen)) return undefined;
	return "the recipient's token account belongs to another owner, or is frozen";
}
