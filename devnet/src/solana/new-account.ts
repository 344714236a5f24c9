import { type Address, type EncodedAccount, lamports, none, some } from "@solana/kit";
import {
	AccountState,
	findAssociatedTokenPda,
	getMintEncoder,
	getTokenEncoder,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";

export const systemProgram = "11111111111111111111111111111111" as Address;

/** Rent-exempt minimums of accounts of these sizes. */
const tokenRentLamports = 2_039_280n;
const mintRentLamports = 1_461_600n;

export function systemAccount(address: Address, amount: bigint): EncodedAccount {
	return newAccount({ address, programAddress: systemProgram, amount, data: new Uint8Array() });
}

type Holding = { token: Address; owner: Address; amount: bigint };

/** Returns the associated token account of the holding's owner. */
export async function tokenAccount(holding: Holding): Promise<EncodedAccount> {
	const { owner, token } = holding;
	const [address] = await findAssociatedTokenPda({ owner, mint: token, tokenProgram: TOKEN_PROGRAM_ADDRESS });
	return tokenAccountAt(address, holding);
}

export function tokenAccountAt(address: Address, { token, owner, amount }: Holding): EncodedAccount {
	const data = getTokenEncoder().encode({
		mint: token,
		owner,
		amount,
		delegate: none(),
		state: AccountState.Initialized,
		isNative: none(),
		delegatedAmount: 0n,
		closeAuthority: none(),
	});
	return newAccount({ address, programAddress: TOKEN_PROGRAM_ADDRESS, amount: tokenRentLamports, data });
}

export function mintAccount({
	address,
	authority,
	supply,
	decimals,
}: {
	address: Address;
	authority: Address;
	supply: bigint;
	decimals: number;
}): EncodedAccount {
	const data = getMintEncoder().encode({
		mintAuthority: some(authority),
		supply,
		decimals,
		isInitialized: true,
		freezeAuthority: none(),
	});
	return newAccount({ address, programAddress: TOKEN_PROGRAM_ADDRESS, amount: mintRentLamports, data });
}

export function newAccount({
	address,
	programAddress,
	amount,
	data,
}: {
	address: Address;
	programAddress: Address;
	amount: bigint;
	data: ArrayLike<number>;
}): EncodedAccount {
	return {
		address,
		programAddress,
		lamports: lamports(amount),
		data: Uint8Array.from(data),
		space: BigInt(data.length),
		executable: false,
	};
}
