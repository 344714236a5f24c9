import type { Address } from "@solana/kit";
import { getMintDecoder, getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { AccountState } from "./account-states.ts";

export type UiTokenAmount = {
	amount: string;
	decimals: number;
	uiAmount: number | null;
	uiAmountString: string;
};

/** The token balance of an account in the message, in the form of a transaction's metadata. */
export type TokenBalance = {
	accountIndex: number;
	mint: Address;
	owner: Address;
	programId: Address;
	uiTokenAmount: UiTokenAmount;
};

const tokenAccountBytes = 165;
const mintBytes = 82;

const tokenDecoder = getTokenDecoder();
const mintDecoder = getMintDecoder();

export function readTokenAccount(account: AccountState) {
	if (account?.programAddress !== TOKEN_PROGRAM_ADDRESS) return undefined;
	if (account.data.length !== tokenAccountBytes) return undefined;
	const token = tokenDecoder.decode(account.data);
	return token.state === 0 ? undefined : token;
}

export function readMint(account: AccountState) {
	if (account?.programAddress !== TOKEN_PROGRAM_ADDRESS || account.data.length !== mintBytes)
		return undefined;
	return mintDecoder.decode(account.data);
}

export function tokenBalance(
	account: AccountState,
	accountIndex: number,
	read: (address: Address) => AccountState,
): TokenBalance | undefined {
	const token = readTokenAccount(account);
	const mint = token && readMint(read(token.mint));
	if (!token || !mint) return undefined;
	return {
		accountIndex,
		mint: token.mint,
		owner: token.owner,
		programId: TOKEN_PROGRAM_ADDRESS,
		uiTokenAmount: uiTokenAmount(token.amount, mint.decimals),
	};
}

export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
	const digits = amount.toString().padStart(decimals + 1, "0");
	const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
	const whole = digits.slice(0, digits.length - decimals);
	const text = decimals > 0 && fraction ? `${whole}.${fraction}` : whole;
	return {
		amount: String(amount),
		decimals,
		uiAmount: amount === 0n ? null : Number(text),
		uiAmountString: text,
	};
}
