import { type Address, getBase58Decoder, getBase64Decoder, unwrapOption } from "@solana/kit";
import { AccountState as TokenState } from "@solana-program/token";
import type { AccountState } from "./account-states.ts";
import { invalidParams } from "./rpc-error.ts";
import type { Config } from "./rpc-params.ts";
import { readMint, readTokenAccount, uiTokenAmount } from "./token-balance.ts";

/** The rent epoch of rent-exempt accounts, which never pay rent. */
const noRentEpoch = 18_446_744_073_709_551_615n;

/** Returns an account in a node's JSON form. `read` returns the mint of a token account. */
export function accountJson(
	account: AccountState,
	{ encoding = "base58", dataSlice }: Config,
	read: (address: Address) => AccountState,
): object | null {
	if (!account) return null;
	const parsed = encoding === "jsonParsed" ? parsedData(account, read) : undefined;
	return {
		data: parsed ?? encodedData(sliced(account.data as Uint8Array, dataSlice), encoding),
		executable: account.executable,
		lamports: account.lamports,
		owner: account.programAddress,
		rentEpoch: noRentEpoch,
		space: account.space,
	};
}

function sliced(data: Uint8Array, slice: unknown): Uint8Array {
	if (!slice) return data;
	const { offset, length } = slice as { offset: number; length: number };
	return data.subarray(offset, offset + length);
}

function encodedData(data: Uint8Array, encoding: unknown): [string, string] {
	switch (encoding) {
		case "base58":
			if (data.length > 128) {
				throw invalidParams(
					"Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.",
				);
			}
			return [getBase58Decoder().decode(data), "base58"];
		// Data that cannot be parsed is returned as base64.
		case "base64":
		case "jsonParsed":
			return [getBase64Decoder().decode(data), "base64"];
		default:
			throw invalidParams(`Invalid params: encoding ${String(encoding)} is not supported here`);
	}
}

function parsedData(account: AccountState, read: (address: Address) => AccountState): object | undefined {
	const mint = readMint(account);
	if (mint) {
		return {
			parsed: {
				info: {
					decimals: mint.decimals,
					freezeAuthority: unwrapOption(mint.freezeAuthority),
					isInitialized: mint.isInitialized,
					mintAuthority: unwrapOption(mint.mintAuthority),
					supply: String(mint.supply),
				},
				type: "mint",
			},
			program: "spl-token",
			space: account?.space,
		};
	}
	const token = readTokenAccount(account);
	const decimals = token && readMint(read(token.mint))?.decimals;
	if (!token || decimals === undefined) return undefined;
	return {
		parsed: {
			info: {
				isNative: token.isNative.__option === "Some",
				mint: token.mint,
				owner: token.owner,
				state: token.state === TokenState.Frozen ? "frozen" : "initialized",
				tokenAmount: uiTokenAmount(token.amount, decimals),
			},
			type: "account",
		},
		program: "spl-token",
		space: account?.space,
	};
}
