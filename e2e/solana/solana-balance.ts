import { type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { SolanaTestChain } from "./solana-chain.ts";

/** Returns an owner's balance in its associated token account; for the native token, that of the address itself. */
export async function solanaBalance(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	token: SolanaAddress,
	owner: SolanaAddress,
): Promise<bigint> {
	if (token === solanaNativeToken) {
		const { value } = await rpc.getBalance(owner, { commitment: "confirmed" }).send();
		return value;
	}
	const address = await tokenAccountOf({ owner, token });
	const { value } = await rpc.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" }).send();
	if (!value) return 0n;
	// A token account begins with mint, owner, amount.
	return Buffer.from(value.data[0], "base64").readBigUInt64LE(64);
}

/** Returns true if the owner has an account for the token. */
export async function hasTokenAccount(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	token: SolanaAddress,
	owner: SolanaAddress,
): Promise<boolean> {
	const address = await tokenAccountOf({ owner, token });
	const { value } = await rpc.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" }).send();
	return value !== null;
}
