import type { Facts } from "../facts/facts.ts";
import type { ChainRules } from "./chain-rules.ts";
import { evmRules } from "./evm-rules.ts";

/** Rules for a rebuilt swap, which has no op: its order is judged by time alone. */
const withoutOp = evmRules.origin;

/** Solana: the service's keys hold inputs and outputs. A transaction dies by itself; only a marker closes an order. */
export const solanaRules: ChainRules = {
	origin: {
		// The one message is past the last height at which it could land, and the lane has looked for that very transaction
		// since and refused the job. A restored store may not know that the message was sent.
		isOpenExpired: (view) => {
			const lastHeight = lastOpenHeight(view.swap);
			if (lastHeight === undefined) return withoutOp.isOpenExpired(view);
			return view.origin.finalizedHeight > lastHeight && view.jobs.open?.state === "refused";
		},
		// Each slot has at most one block, so the height cannot be reached before this slot. From then on the lane decides.
		untilOpenExpired: (view) => {
			const { chainId, finalizedHeight, finalizedNumber } = view.origin;
			const lastHeight = lastOpenHeight(view.swap);
			if (lastHeight === undefined) return withoutOp.untilOpenExpired(view);
			const blocks = lastHeight + 1 - finalizedHeight;
			return { wait: blocks <= 0 ? {} : { finalized: { chainId, number: finalizedNumber + blocks } } };
		},
		// The one message is co-signed once: an existing job is the lane's to finish. A missing job is queued however late,
		// since only the lane can tell that the message never landed.
		openAgain: (view) => {
			if (lastOpenHeight(view.swap) === undefined) return withoutOp.openAgain(view);
			return view.jobs.open ? [] : [{ do: "queue", kind: "open", again: false }];
		},
		// A dropped deposit can only be sent again as the same bytes, while they are valid: for at least as many blocks as
		// are not final now. On one chain nothing binds a payout to its deposit, so the deposit must be final.
		canBringBack: ({ swap, origin, isCrossChain }) => {
			const unfinal = origin.number - origin.finalizedNumber;
			const height = origin.finalizedHeight + unfinal;
			return isCrossChain && (lastOpenHeight(swap) ?? 0) - height >= unfinal;
		},
		isCustodial: true,
	},
	destination: {
		isFillExpired: () => false,
		untilFillExpired: () => ({ wait: {} }),
		// A signed fill that has not landed must be dead by the deadline.
		fillMarginSeconds: ({ policy }) => policy.destination.deadAfterSeconds,
		closesByTime: false,
		refundCloses: true,
	},
};

/** Returns the last height at which the wallet's message can land; undefined if there is no op. */
function lastOpenHeight({ op }: Facts["swap"]): number | undefined {
	return op && "kind" in op ? Number(op.lastValidBlockHeight) : undefined;
}
