import { type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { SolanaTestChain } from "./solana-chain.ts";

/** What someone holds of a token in the account that is meant for it; of the native one, the address itself. */
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
	// A token account is mint, owner, amount.
	return Buffer.from(value.data[0], "base64").readBigUInt64LE(64);
}

/** Whether an owner has an account for a token at all. */
export async function hasTokenAccount(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	token: SolanaAddress,
	owner: SolanaAddress,
): Promise<boolean> {
	const address = await tokenAccountOf({ owner, token });
	const { value } = await rpc.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" }).send();
	return value !== null;
}
