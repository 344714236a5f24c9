import type { Opening } from "@geoswap/protocol";
import { fromWord, orderProof, orderTerms } from "@geoswap/protocol";
import type { Job } from "../../swap/facts/job.ts";
import type { SignedOp } from "../../swap/facts/swap-record.ts";

/** Returns the op of a job that opens an order on an EVM chain. Throws for other jobs, which have separate lanes. */
export function evmOp({ swapId, payload: { op } }: Job<"open">): SignedOp {
	if ("kind" in op) throw new Error(`swap ${swapId} is not opened on an EVM chain`);
	return op;
}

/** Returns an order with its wallet's proof, for the escrow. Throws if no such item can be made of the order. */
export function openingOf(job: Job<"open">): Opening {
	const { gas, signatureKind, signature, mandate } = evmOp(job);
	return {
		wallet: fromWord(job.order.wallet),
		gas,
		terms: orderTerms(job.order),
		proof: orderProof({ kind: signatureKind, signature, mandate: mandate?.encoded }),
	};
}
