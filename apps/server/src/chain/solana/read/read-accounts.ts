import { type SolanaAddress, tokenAccountSize, type Wei } from "@geoswap/protocol";
import { getBase64Encoder } from "@solana/kit";
import { AccountState, getTokenDecoder, TOKEN_PROGRAM_ADDRESS, type Token } from "@solana-program/token";
import { requestChain } from "../../request-chain.ts";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";

/** The maximum number of accounts in one request to a node. */
const accountsPerRequest = 100;

/**
 * The part of an account's data to read. Callers choose some of the addresses, and an account can have 10 MB. One byte
 * more than a token account has shows that an account is longer.
 */
const dataSlice = { offset: 0, length: tokenAccountSize + 1 };

/**
 * An account that exists. `program` owns it: the System Program if it is a wallet. `token` is its content as an account
 * of the Token program, if it is one.
 */
export type Account = { lamports: Wei; program: SolanaAddress; token: Token | undefined };

/** Reads the accounts at these addresses. Up to a hundred are of one slot. */
export async function readAccounts(
	{ chainId, rpc }: SolanaChain,
	addresses: readonly SolanaAddress[],
	{ commitment, signal }: { commitment: SolanaCommitment; signal?: AbortSignal | undefined },
): Promise<{ slot: number; accounts: (Account | undefined)[] }> {
	const accounts: (Account | undefined)[] = [];
	let slot = 0;
	for (let start = 0; start < addresses.length; start += accountsPerRequest) {
		const some = addresses.slice(start, start + accountsPerRequest);
		const { context, value } = await requestChain(
			chainId,
			rpc
				.getMultipleAccounts(some, { commitment, encoding: "base64", dataSlice })
				.send(signal && { abortSignal: signal }),
		);
		if (value.length !== some.length) throw new Error("the chain answered for other accounts than requested");
		if (start === 0) slot = Number(context.slot);
		for (const account of value) {
			accounts.push(
				account === null
					? undefined
					: {
							lamports: account.lamports,
							program: account.owner,
							token: decodeToken(account.owner, account.data[0]),
						},
			);
		}
	}
	return { slot, accounts };
}

function decodeToken(program: string, data: string): Token | undefined {
	const bytes = getBase64Encoder().encode(data);
	const decoder = getTokenDecoder();
	// A mint of the same program is shorter, a multisignature longer.
	if (program !== TOKEN_PROGRAM_ADDRESS || bytes.length !== decoder.fixedSize) return undefined;
	const token = decoder.decode(bytes);
	return token.state === AccountState.Uninitialized ? undefined : token;
}

/** An account that exists, with all its bytes. `program` owns it. */
export type WholeAccount = { lamports: Wei; program: SolanaAddress; data: Uint8Array };

/** The state of the chain that a reading is of. */
export type ReadAt = {
	commitment: SolanaCommitment;
	/** A node that has not reached this slot does not answer. */
	minSlot?: number;
};

/** Reads up to a hundred accounts at one slot, whole. Only for addresses at which no caller can choose the size. */
export async function readWholeAccounts(
	{ chainId, rpc }: SolanaChain,
	addresses: readonly SolanaAddress[],
	{ commitment, minSlot }: ReadAt,
): Promise<(WholeAccount | undefined)[]> {
	const { value } = await requestChain(
		chainId,
		rpc
			.getMultipleAccounts([...addresses], {
				commitment,
				encoding: "base64",
				...(minSlot === undefined ? {} : { minContextSlot: BigInt(minSlot) }),
			})
			.send(),
	);
	if (value.length !== addresses.length) {
		throw new Error("the chain answered for other accounts than requested");
	}
	return value.map((account) =>
		account === null
			? undefined
			: {
					lamports: account.lamports,
					program: account.owner,
					data: new Uint8Array(getBase64Encoder().encode(account.data[0])),
				},
	);
}
