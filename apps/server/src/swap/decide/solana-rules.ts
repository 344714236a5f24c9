import type { Facts } from "../facts/facts.ts";
import type { ChainRules } from "./chain-rules.ts";
import { evmRules } from "./evm-rules.ts";

/**
 * Solana. Two things differ from an EVM chain. The wallet's transaction expires with its blockhash and is sent by one
 * lane only. And within Solana the refund itself closes the order, since the program pays either the fill or the refund.
 */
export const solanaRules: ChainRules = {
	...evmRules,
	// The one message can no longer land, the lane has searched for it since, and after that the order's account was not
	// there at a final slot. Only the wallet itself could still open the order, and could take its input back.
	isOpenExpired: (view) => {
		const { origin, jobs, nowMs, swap } = view;
		const { state, ageMs } = jobs.open ?? {};
		const isDead = origin.finalizedHeight > lastOpenHeight(swap) && state === "refused";
		const isCompared = ageMs !== undefined && origin.comparedAtMs > nowMs - ageMs;
		const isThere = origin.unseenOrders.includes(swap.orderId);
		return (isDead && isCompared && !isThere) || evmRules.isOpenExpired(view);
	},
	// The wallet signed one message, which is co-signed once, so an existing job is left to its lane.
	openAgain: (view) => {
		const { swap, jobs } = view;
		return jobs.open && !swap.givingUp ? [] : evmRules.openAgain(view);
	},
	// A dropped deposit can only be sent again as the same bytes, while they are valid. They must stay valid for at least
	// as many blocks as are not final now.
	canBringBack: ({ swap, origin }) => {
		const unfinal = origin.number - origin.finalizedNumber;
		return lastOpenHeight(swap) - (origin.finalizedHeight + unfinal) >= unfinal;
	},
	refundCloses: true,
};

/** Returns the last height at which the wallet's message can land; 0 if there is none. */
function lastOpenHeight({ op }: Facts["swap"]): number {
	return op && "kind" in op ? Number(op.lastValidBlockHeight) : 0;
}
