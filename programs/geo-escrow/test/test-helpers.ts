import {
	type AttestationKind,
	attestationDigest,
	type SolanaAddress,
	solanaChainId,
	tokenAccountOf,
	toSolanaWord,
} from "@geoswap/protocol";
import { type AccountMeta, AccountRole } from "@solana/kit";
import type { Hex } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";

export function reads(address: SolanaAddress): AccountMeta {
	return { address, role: AccountRole.READONLY };
}

export function writes(address: SolanaAddress): AccountMeta {
	return { address, role: AccountRole.WRITABLE };
}

export function isNative(token: Hex): boolean {
	return BigInt(token) === 0n;
}

/** Returns the account in which an owner holds a token. */
export function tokensOf(owner: SolanaAddress, token: SolanaAddress): Promise<SolanaAddress> {
	return tokenAccountOf({ owner, token });
}

/** Returns the digest that attesters sign about these orders. */
export function digestOf(program: SolanaAddress, kind: AttestationKind, orderIds: readonly Hex[]): Hex {
	return attestationDigest({ kind, originChainId: solanaChainId, escrow: toSolanaWord(program), orderIds });
}

/** Signs as these attesters, in the ascending order of their addresses. */
export function signAll(hash: Hex, privateKeys: readonly Hex[]): Promise<Hex[]> {
	const addresses = new Map(privateKeys.map((key) => [key, BigInt(privateKeyToAccount(key).address)]));
	const ascending = privateKeys.toSorted((a, b) =>
		(addresses.get(a) ?? 0n) < (addresses.get(b) ?? 0n) ? -1 : 1,
	);
	return Promise.all(ascending.map((privateKey) => sign({ hash, privateKey, to: "hex" })));
}
