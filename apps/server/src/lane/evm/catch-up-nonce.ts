import { raiseNonce } from "../../job/journal/lane-transactions.ts";
import type { Lane } from "./lane.ts";

/**
 * Sees to it that the lane signs with no nonce that the chain has spent. The store may be older than the chain: it was
 * restored, or a replica took its place that had not heard of the last transactions.
 */
export async function catchUpNonce({ pool, id, chain }: Pick<Lane, "pool" | "id" | "chain">): Promise<void> {
	await raiseNonce(pool, id, await chain.client.getTransactionCount({ address: id.relayer }));
}
