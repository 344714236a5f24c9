import type { Hex } from "viem";
import type { Lane } from "./lane.ts";
import type { Fees } from "./transaction-fees.ts";

/** Signs a transaction that spends the nonce and does nothing. */
export function signCancel(
	{ id, account }: Pick<Lane, "id" | "account">,
	{ nonce, fees }: { nonce: number; fees: Fees },
): Promise<Hex> {
	return account.signTransaction({
		chainId: id.chainId,
		to: account.address,
		gas: 21_000n,
		type: "eip1559",
		nonce,
		...fees,
	});
}
