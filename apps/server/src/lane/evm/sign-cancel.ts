import type { Hex } from "viem";
import { feeModelOf } from "../../chain/evm/fee/fee-model-of.ts";
import type { Lane } from "./lane.ts";
import type { Fees } from "./transaction-fees.ts";

/** Signs a transaction that spends the nonce and does nothing. */
export async function signCancel(
	{ id, account, chain }: Pick<Lane, "id" | "account" | "chain">,
	{ nonce, fees }: { nonce: number; fees: Fees },
): Promise<Hex> {
	const call = { to: account.address, data: "0x" } as const;
	return account.signTransaction({
		...call,
		chainId: id.chainId,
		gas: 21_000n + (await feeModelOf(chain.deployment).readExtraGas(chain, call)),
		type: "eip1559",
		nonce,
		...fees,
	});
}
