import { raiseNonce } from "../../job/journal/lane-transactions.ts";
import type { Lane } from "./lane.ts";

/**
 * Raises the lane's nonce to the chain's, so that the lane signs with no spent nonce. The store may be behind the chain
 * if it was restored, or replaced by a replica that lacked the last transactions.
 */
export async function catchUpNonce({ pool, id, chain }: Pick<Lane, "pool" | "id" | "chain">): Promise<void> {
	await raiseNonce(pool, id, await chain.client.getTransactionCount({ address: id.relayer }));
}
