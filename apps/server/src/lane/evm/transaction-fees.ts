import { greater, type Wei } from "@geoswap/protocol";
import { highestFeePerGas } from "../../chain/evm/fee/fee-model.ts";
import type { ChainHead } from "../../swap/facts/facts.ts";
import type { Lane } from "./lane.ts";

export type Fees = { maxFeePerGas: Wei; maxPriorityFeePerGas: Wei };

/**
 * Returns fees for a new transaction. They bound what is paid, which is the base fee of the transaction's block, and
 * the tip.
 */
export function freshFees(
	{ id, policy, tipNow }: Pick<Lane, "id" | "policy" | "tipNow">,
	{ baseFee }: Pick<ChainHead, "baseFee">,
): Fees {
	const tip = tipNow(id.chainId) ?? BigInt(policy.minimumTipWei);
	return { maxFeePerGas: highestFeePerGas({ baseFee, tip }), maxPriorityFeePerGas: tip };
}

/** The highest multiple of a fresh fee for replacements. Beyond it the fee is not what holds the transaction up. */
const ceiling = 10n;

/**
 * Returns the fees of a replacement, which are a quarter more than those of the attempt before, since chains require at
 * least an eighth, and no less than those of a new transaction. Undefined if a higher fee would not help.
 */
export function replacementFees(before: Fees, fresh: Fees): Fees | undefined {
	if (before.maxFeePerGas >= ceiling * fresh.maxFeePerGas) return undefined;
	// A node that hides our transactions must not make the tip grow without end.
	const isTipHigh =
		before.maxPriorityFeePerGas > 0n && before.maxPriorityFeePerGas >= ceiling * fresh.maxPriorityFeePerGas;
	if (isTipHigh && before.maxFeePerGas >= fresh.maxFeePerGas) return undefined;
	const maxFeePerGas = greater(raised(before.maxFeePerGas), fresh.maxFeePerGas);
	const maxPriorityFeePerGas = greater(raised(before.maxPriorityFeePerGas), fresh.maxPriorityFeePerGas);
	return { maxFeePerGas: greater(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
}

function raised(fee: bigint): bigint {
	return (fee * 5n + 3n) / 4n;
}
