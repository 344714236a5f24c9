import type { Job } from "../store/job.ts";
import type { SignedOp } from "../store/swap-record.ts";

/** The op of a job that opens an order on an EVM chain: other chains have lanes of their own. */
export function evmOp({ swapId, payload: { op } }: Job<"open">): SignedOp {
	if ("kind" in op) throw new Error(`swap ${swapId} is not opened on an EVM chain`);
	return op;
}
