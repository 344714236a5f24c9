import type { Hex } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { type FollowedHead, readBlockHashes } from "../../swap/due/chain-head.ts";
import { undoBlocks } from "./undo-blocks.ts";

/**
 * The chain dropped a block that it had reported as final. Payments that relied on it stay paid, so an operator must
 * decide.
 */
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
	const known = await readBlockHashes(pool, {
		chainId,
		from: head.finalizedNumber,
		upTo: Math.min(head.number, latestNumber),
	});
	// The hash of the newest final block is always kept, so another follower must be past this head.
	if (known.at(-1)?.number !== head.finalizedNumber) {
		throw new Error(`another follower moved the head of chain ${chainId}`);
	}
	for (const { number, hash: seen } of known) {
		const { hash } = await readBlock(chain, number);
		if (seen === hash) {
			return { number, orderIds: await inTransaction(pool, (db) => undoBlocks(db, { chainId, number })) };
		}
	}
	throw new FinalityBrokenError(chainId, head.finalizedNumber);
}
