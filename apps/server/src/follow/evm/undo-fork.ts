import type { Hex } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { type FollowedHead, readBlockHash } from "../../swap/due/chain-head.ts";
import { undoBlocks } from "./undo-blocks.ts";

/** The chain dropped a block that it had called final. Payments that relied on it stay paid: a person is needed. */
export class FinalityBrokenError extends Error {
	override name = "FinalityBrokenError";

	constructor(chainId: number, number: number) {
		super(`chain ${chainId} dropped block ${number}, which was final`);
	}
}

/** Goes back to the last followed block that is still on the chain. Returns the orders that lost an event. */
export async function undoFork({
	chain,
	pool,
	head,
	latestNumber,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	head: FollowedHead;
	latestNumber: number;
}): Promise<{ number: number; orderIds: Hex[] }> {
	const { chainId } = chain;
	if (latestNumber < head.finalizedNumber)
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	for (let number = Math.min(head.number, latestNumber); number >= head.finalizedNumber; number--) {
		const [seen, { hash }] = await Promise.all([
			readBlockHash(pool, { chainId, number }),
			readBlock(chain, number),
		]);
		// The hashes of all blocks from the newest final one on are kept, so another follower must be past this head.
		if (seen === undefined) throw new Error(`another follower moved the head of chain ${chainId}`);
		if (seen === hash) {
			return { number, orderIds: await inTransaction(pool, (db) => undoBlocks(db, { chainId, number })) };
		}
	}
	throw new FinalityBrokenError(chainId, head.finalizedNumber);
}
