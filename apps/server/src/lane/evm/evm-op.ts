import { orderUserOp } from "@geoswap/protocol";
import type { PackedUserOperation } from "viem/account-abstraction";
import type { Job } from "../../swap/facts/job.ts";
import type { SignedOp } from "../../swap/facts/swap-record.ts";

/** Returns the op of a job that opens an order on an EVM chain. Throws for others, which have lanes of their own. */
export function evmOp({ swapId, payload: { op } }: Job<"open">): SignedOp {
	if ("kind" in op) throw new Error(`swap ${swapId} is not opened on an EVM chain`);
	return op;
}

/** Returns the op as the wallet signed it, for the entry point. Throws if no such op can be made of the order. */
export function signedUserOp(job: Job<"open">): PackedUserOperation {
	const { delegate, allowance, gas, signature } = evmOp(job);
	return { ...orderUserOp({ order: job.order, delegate, allowance, gas }).userOp, signature };
}
