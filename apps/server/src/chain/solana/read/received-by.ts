import { fromSolanaWord, type SolanaAddress, solanaNativeToken, tokenAccountOf } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Landed } from "./read-landed.ts";

/**
 * Returns how much more an owner holds after the transaction, from balances and not from instructions; negative if it
 * holds less. A token is counted in the owner's associated account, even if that account was given away. The
 * transaction's fee is not counted.
 */
export async function receivedBy(
	landed: Landed,
	{ owner, token }: { owner: SolanaAddress; token: Hex },
): Promise<bigint> {
	const mint = fromSolanaWord(token);
	if (mint === solanaNativeToken) {
		const change = landed.lamports.get(owner);
		if (!change) return 0n;
		return change.after - change.before + (owner === landed.message.feePayer ? landed.fee : 0n);
	}
	const change = landed.tokens.get(await tokenAccountOf({ owner, token: mint }));
	return change?.mint === mint ? change.after - change.before : 0n;
}
