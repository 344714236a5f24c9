import {
	accountRentLamports,
	fromSolanaWord,
	greater,
	inputAddress,
	type Order,
	orderAddress,
	orderId,
	programAccountSizes,
	solanaNativeToken,
} from "@geoswap/protocol";
import type { DepositSight, ToldDeposit } from "../../deposit-sight.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { type Landed, readLanded } from "./read-landed.ts";
import { readSlots } from "./read-slots.ts";
import { readUnknown } from "./read-unknown.ts";

/** Returns how much of an order's input came to the order's own account in the program. */
async function receivedFor(
	{ deployment: { program } }: SolanaChain,
	landed: Landed,
	order: Order,
): Promise<bigint> {
	const isNative = fromSolanaWord(order.inputToken) === solanaNativeToken;
	const addressOf = isNative ? orderAddress : inputAddress;
	const change = (isNative ? landed.lamports : landed.tokens).get(
		await addressOf(program.address, orderId(order)),
	);
	if (!change) return 0n;
	// The rent of the account is paid in the same transaction, and is no part of the input.
	const rent = isNative ? accountRentLamports(programAccountSizes.order) : 0n;
	return greater(change.after - rent, 0n) - greater(change.before - rent, 0n);
}

/**
 * Checks a deposit that another provider reported. This provider must have the same transaction in the same slot, and
 * the changed balances must show that the order has its input. Throws if the provider does not answer.
 */
export async function readSolanaDeposit(chain: SolanaChain, deposit: ToldDeposit): Promise<DepositSight> {
	// The provider's slots are read first, so a deposit that it returns after that is at least as deep.
	const { finalized, confirmed } = await readSlots(chain);
	if (confirmed.slot < deposit.blockNumber) return { verdict: "behind" };
	const landed = await readLanded(chain, deposit.transactionHash);
	if (!landed) {
		// A missing transaction proves nothing unless the node is final up to its slot, and still has those blocks.
		if (finalized.slot < deposit.blockNumber) return { verdict: "behind" };
		const sought = { hash: deposit.transactionHash, slot: deposit.blockNumber };
		const isGone = (await readUnknown(chain, [sought], finalized)).size > 0;
		return isGone ? { verdict: "differs", how: "it returns no such transaction" } : { verdict: "behind" };
	}
	if (landed.slot !== deposit.blockNumber) {
		return { verdict: "differs", how: `the transaction is in slot ${landed.slot}` };
	}
	if (landed.isFailed) return { verdict: "differs", how: "the transaction failed" };
	const { inputAmount } = deposit.order;
	const received = await receivedFor(chain, landed, deposit.order);
	if (received < inputAmount) {
		return { verdict: "differs", how: `the order received ${received} of ${inputAmount}` };
	}
	return { verdict: "agrees", headNumber: confirmed.slot, finalizedNumber: finalized.slot };
}
