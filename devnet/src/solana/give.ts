import { type Address, type EncodedAccount, lamports } from "@solana/kit";
import { getMintEncoder, getTokenEncoder } from "@solana-program/token";
import type { AccountState } from "./account-states.ts";
import { systemAccount } from "./new-account.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { readMint, readTokenAccount } from "./token-balance.ts";

// A given balance counts as always there, so no slot shows a change.

/** Adds the balance of a new account to the one at its address, or creates it. */
export function giveTokens(chain: SolanaChain, made: EncodedAccount): void {
	const given = readTokenAccount(made);
	if (!given) throw new Error(`${made.address} is not a token account`);
	const { amount, mint: token } = given;
	chain.states.amend(made.address, (account) => {
		const held = readTokenAccount(account);
		if (!account || !held) return made;
		return withData(account, getTokenEncoder().encode({ ...held, amount: held.amount + amount }));
	});
	chain.states.amend(token, (account) => {
		const mint = readMint(account);
		if (!account || !mint) return account;
		return withData(account, getMintEncoder().encode({ ...mint, supply: mint.supply + amount }));
	});
}

export function giveLamports(chain: SolanaChain, address: Address, amount: bigint): void {
	chain.states.amend(address, (account) =>
		account ? { ...account, lamports: lamports(account.lamports + amount) } : systemAccount(address, amount),
	);
}

function withData(account: NonNullable<AccountState>, data: ArrayLike<number>): NonNullable<AccountState> {
	return { ...account, data: Uint8Array.from(data) };
}
