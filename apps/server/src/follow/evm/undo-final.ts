import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { type Block, readBlock } from "../../chain/evm/read/read-block.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import { readOpeningNumber } from "../../money/ledger/post.ts";
import { type FollowedHead, readEventBlocks } from "../../swap/due/chain-head.ts";
import { undoFinalBlocks } from "./undo-final-blocks.ts";

const blocksAtOnce = 20;

/**
 * Goes back below the final block, to the last block with events of the service that is still on the chain. Undoes the
 * effects of all blocks above it.
 */
export async function undoFinal({
	chain,
	pool,
	head,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	head: FollowedHead;
}): Promise<{ number: number } & Awaited<ReturnType<typeof undoFinalBlocks>>> {
	const { chainId } = chain;
	const block =
		(await lastKnown({ chain, pool, head })) ??
		// No block with events of the service is left on the chain.
		(await readBlock(chain, await readOpeningNumber(pool, chainId)));
	const undone = await inTransaction(pool, (db) => undoFinalBlocks(db, { chainId, block }));
	return { number: block.number, ...undone };
}

/** Returns the last known block that is still on the chain. Only hashes of blocks with events are kept permanently. */
async function lastKnown({
	chain,
	pool,
	head,
}: Pick<Parameters<typeof undoFinal>[0], "chain" | "pool" | "head">): Promise<Block | undefined> {
	const { chainId } = chain;
	for (let upTo = head.finalizedNumber - 1; ; ) {
		const seen = await readEventBlocks(pool, { chainId, upTo, limit: blocksAtOnce });
		const blocks = await Promise.all(seen.map(({ number }) => readBlock(chain, number)));
		const known = blocks.find(({ hash }, i) => hash === seen[i]?.hash);
		if (known || seen.length < blocksAtOnce) return known;
		upTo = (seen.at(-1)?.number ?? 0) - 1;
	}
}
