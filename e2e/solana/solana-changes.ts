import { type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import type { Signature } from "@solana/kit";
import type { SolanaTestChain } from "./solana-chain.ts";

export type SolanaChanges = {
	/** Returns the change of an owner's balance of a token, the native one included, in one transaction. */
	of: (owner: SolanaAddress, token: SolanaAddress) => bigint;
	fee: bigint;
};

/** Returns the balance changes of a transaction, as reported by the node. Throws unless it landed and succeeded. */
export async function solanaChanges({ rpc }: SolanaTestChain, signature: string): Promise<SolanaChanges> {
	const found = await rpc
		.getTransaction(signature as Signature, {
			commitment: "confirmed",
			encoding: "json",
			maxSupportedTransactionVersion: 0,
		})
		.send();
	if (!found?.meta) throw new Error(`no transaction ${signature}`);
	const { meta, transaction } = found;
	if (meta.err) throw new Error(`${signature} failed: ${JSON.stringify(meta.err)}`);
	const { accountKeys } = transaction.message;
	const tokens = (balances: typeof meta.preTokenBalances, owner: SolanaAddress, token: SolanaAddress) =>
		(balances ?? [])
			.filter((balance) => balance.owner === owner && balance.mint === token)
			.reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n);
	return {
		fee: meta.fee,
		of: (owner, token) => {
			if (token !== solanaNativeToken) {
				return tokens(meta.postTokenBalances, owner, token) - tokens(meta.preTokenBalances, owner, token);
			}
			const index = accountKeys.indexOf(owner);
			return index < 0 ? 0n : (meta.postBalances[index] ?? 0n) - (meta.preBalances[index] ?? 0n);
		},
	};
}
