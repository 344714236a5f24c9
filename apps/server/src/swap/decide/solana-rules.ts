import type { Facts } from "../facts/facts.ts";
import type { ChainRules } from "./chain-rules.ts";
import { evmRules } from "./evm-rules.ts";

/** A swap that was rebuilt has no op: what is known of its order goes by time alone. */
const withoutOp = evmRules.origin;

/** Solana: the service's keys hold inputs and outputs. A transaction dies by itself, and only a marker closes an order. */
export const solanaRules: ChainRules = {
	origin: {
		// By the last height at which the one message could land, and the lane's word: it has asked for that very transaction
		// since. A store that was restored may not know that it was sent.
		isOpenExpired: (view) => {
			const lastHeight = lastOpenHeight(view.swap);
			if (lastHeight === undefined) return withoutOp.isOpenExpired(view);
			return view.origin.finalizedHeight > lastHeight && view.jobs.open?.state === "refused";
		},
		// Each slot has one block at most: the height cannot be there before this slot. Then it is for the lane to say.
		untilOpenExpired: (view) => {
			const { chainId, finalizedHeight, finalizedNumber } = view.origin;
			const lastHeight = lastOpenHeight(view.swap);
			if (lastHeight === undefined) return withoutOp.untilOpenExpired(view);
			const blocks = lastHeight + 1 - finalizedHeight;
			return { wait: blocks <= 0 ? {} : { finalized: { chainId, number: finalizedNumber + blocks } } };
		},
		// One message is co-signed, once: a job that is there is the lane's to finish. One that is not is queued however late:
		// the lane alone can say that the message never landed.
		openAgain: (view) => {
			if (lastOpenHeight(view.swap) === undefined) return withoutOp.openAgain(view);
			return view.jobs.open ? [] : [{ do: "queue", kind: "open", again: false }];
		},
		// A deposit that is dropped comes back only as the same bytes, while they live: as many blocks must be left to them as
		// are not final now. On one chain nothing binds a payout to the deposit, so that it must be final.
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
		// A fill that is signed must be dead by the deadline, if it has not landed.
		fillMarginSeconds: ({ policy }) => policy.destination.deadAfterSeconds,
		closesByTime: false,
		refundCloses: true,
	},
};

/** The last height at which a wallet's message can land; undefined where there is no op. */
function lastOpenHeight({ op }: Facts["swap"]): number | undefined {
	return op && "kind" in op ? Number(op.lastValidBlockHeight) : undefined;
}
