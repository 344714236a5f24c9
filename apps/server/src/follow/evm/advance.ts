import type { Milliseconds } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { ourContracts } from "../../chain/evm/our-contracts.ts";
import type { ContractEvent } from "../../chain/evm/read/decode-events.ts";
import { type Block, readBlock } from "../../chain/evm/read/read-block.ts";
import { readEvents } from "../../chain/evm/read/read-events.ts";
import { readReceipts } from "../../chain/evm/read/read-receipts.ts";
import { readStock } from "../../chain/evm/read/read-stock.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Engine } from "../../durable/durable.ts";
import { type FollowedHead, lockHead, readBlockHash, readHead } from "../../swap/due/chain-head.ts";
import { readFinalityBreak } from "../../swap/pause/finality-breaks.ts";
import type { Log } from "../../telemetry/log.ts";
import { readDemand } from "../follow-pace.ts";
import { pauseOnBrokenFinality } from "../pause-on-broken-finality.ts";
import { wake } from "../wake.ts";
import { applyBlock, applyQuietBlock } from "./apply-block.ts";
import { laneHashesAmong } from "./lane-hashes.ts";
import { readOpenNonces } from "./open-nonces.ts";
import { startFollowing } from "./start-following.ts";
import { undoFinal } from "./undo-final.ts";
import { FinalityBrokenError, undoFork } from "./undo-fork.ts";

/** Blocks to request at once if the follower is behind. Each answer can have `maxAnswerBytes`. */
const blocksAtOnce = 5;
/** The fewest blocks that are skipped at once if nothing of ours is in them. */
const fewestSkipped = 5;
/** Blocks that are skipped at once at most: to skip them, all their events are requested. */
const maxSkipped = 2_000;
/** The newest blocks are not skipped: at least so many, and all that are younger than this. */
const neverSkipped = { blocks: 3, seconds: 15 };

export type Following = {
	chain: EvmChain;
	pool: DatabasePool;
	engine: Engine;
	/** The relayers of this chain's lanes. */
	relayers: readonly Address[];
	log: Log;
	nowMs?: () => Milliseconds;
	/** The newest block when the follower last reached it. Kept by a caller that is sure nobody else moves the head. */
	taken?: { hash?: Hex };
};

/**
 * Takes in what the chain has beyond the head: new blocks, or a reorg. Returns whether there was anything new. Whatever
 * it throws, it can be called again.
 */
export async function advance(following: Following): Promise<boolean> {
	const { chain, pool, log, nowMs = Date.now } = following;
	const { chainId } = chain;
	const { taken = {} } = following;
	const latest = await readBlock(chain, "latest");
	if (latest.hash === taken.hash) return false;
	const head = await readHead(pool, chainId);
	if (!head) return startFollowing({ chain, pool });
	if (latest.hash === head.hash) {
		taken.hash = latest.hash;
		return false;
	}
	if (latest.number < head.finalizedNumber)
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	const finalized = await readBlock(chain, "finalized");
	if (await isForked({ pool, chainId, head, latest, finalized })) return undo();
	if (latest.number <= head.number) return false;
	const skipped = await findSkip({ chain, pool, head, latest });
	if (skipped) {
		const stock = await readStock(chain, { blockNumber: skipped.number });
		const still = await readBlock(chain, head.number);
		if (still.hash !== head.hash) return undo();
		await take({ following, block: { ...skipped, parentHash: head.hash }, events: [], finalized, stock });
		await wake({ ...following, chainId, occasion: skipped.hash });
		// The newest blocks can wait for the next look, unless a swap may be waiting for them.
		const { isBusy, hasOpen } = await readDemand(pool, chainId);
		return isBusy || hasOpen;
	}

	const numbers = Array.from(
		{ length: Math.min(latest.number - head.number, blocksAtOnce) },
		(_, i) => head.number + 1 + i,
	);
	const blocks = await Promise.all(
		numbers.map(async (number) => {
			const block = number === latest.number ? latest : await readBlock(chain, number);
			const { events } = await readEvents(chain, { blockHash: block.hash });
			return { block, events };
		}),
	);
	let parent: { hash: Hex } = head;
	for (const { block, events } of blocks) {
		if (block.parentHash !== parent.hash) return undo();
		const stock = block === latest ? await readStock(chain, { blockNumber: block.number }) : undefined;
		await take({ following, block, events, finalized, stock });
		parent = block;
	}
	await wake({ ...following, chainId, occasion: parent.hash });
	return true;

	async function undo(): Promise<boolean> {
		// The chain may return to the block that was newest before.
		delete taken.hash;
		const seen = (await readHead(pool, chainId)) ?? (head as FollowedHead);
		const known = await readFinalityBreak(pool, chainId);
		// Nothing is taken in until a person has looked, unless the chain has its blocks again.
		if (known === "paused") return false;
		const undone = await undoFork({ chain, pool, head: seen, latestNumber: latest.number }).catch(
			async (error: unknown) => {
				if (!(error instanceof FinalityBrokenError)) throw error;
				return known === "accepted" ? accept(seen) : stop(seen, error);
			},
		);
		if (!undone) return false;
		log.warn({ chainId, from: seen.number, to: undone.number }, "the chain dropped blocks");
		// The next block taken in may be this very one, and must poke again.
		const occasion = `${latest.hash} without ${seen.hash}`;
		await wake({ ...following, chainId, occasion });
		return true;
	}

	/** Pauses the chain. Throws if another follower moved the head: it may have gone on with the chain as that is now. */
	async function stop(seen: FollowedHead, error: FinalityBrokenError): Promise<undefined> {
		await inTransaction(pool, async (db) => {
			const now = await lockHead(db, chainId);
			if (now?.hash !== seen.hash || now.finalizedNumber !== seen.finalizedNumber) {
				throw new Error(`another follower moved the head of chain ${chainId}`);
			}
			await pauseOnBrokenFinality({ db, chainId, error, log, nowMs: nowMs() });
		});
	}

	async function accept(seen: FollowedHead): Promise<{ number: number; orderIds: Hex[] }> {
		const { number, orderIds, reversed, restarted } = await undoFinal({
			chain,
			pool,
			head: seen,
		});
		log.error(
			{ chainId, from: seen.finalizedNumber, to: number, orderIds, reversed, restarted },
			"final blocks are undone, as an operator allowed",
		);
		return { number, orderIds };
	}
}

/** Returns whether the chain has dropped a block that was taken in. A node that is only behind has not forked. */
async function isForked({
	pool,
	chainId,
	head,
	latest,
	finalized,
}: {
	pool: DatabasePool;
	chainId: number;
	head: FollowedHead;
	latest: Block;
	finalized: Block;
}): Promise<boolean> {
	if (latest.number === head.number + 1) return latest.parentHash !== head.hash;
	for (const { number, hash } of [finalized, latest]) {
		const seen = number > head.number ? undefined : await readBlockHash(pool, { chainId, number });
		if (seen !== undefined && seen !== hash) return true;
	}
	return false;
}

/**
 * Returns a block up to which nothing of ours is in the blocks after the head, or undefined if they must be read one by
 * one. If nobody waits, there may be many blocks, and a few questions are enough: our relayers have mined nothing since,
 * and the contracts have no events in that range. The newest blocks are never asked for like this: a provider's backend
 * that is behind would answer as if they were empty, and they may still be dropped.
 */
async function findSkip({
	chain,
	pool,
	head,
	latest,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	head: FollowedHead;
	latest: Block;
}): Promise<Block | undefined> {
	const gap = latest.number - head.number;
	const gapSeconds = Math.max(1, latest.timestamp - head.timestamp);
	const left = Math.max(neverSkipped.blocks, Math.ceil((neverSkipped.seconds * gap) / gapSeconds));
	const to = Math.min(latest.number - left, head.number + maxSkipped);
	if (to - head.number < fewestSkipped) return;
	// It is read before the questions: if the chain drops it meanwhile, the next look finds out by its hash.
	const target = await readBlock(chain, to);
	const mined = await Promise.all(
		(await readOpenNonces(pool, chain.chainId)).map(async ({ relayer, nonce }) => {
			const count = await chain.client.getTransactionCount({ address: relayer, blockNumber: BigInt(to) });
			return count > nonce;
		}),
	);
	if (mined.includes(true)) return;
	// If a node does not return them, the blocks are read one by one.
	const read = await readEvents(chain, { fromBlock: head.number + 1, toBlock: to }).catch(() => undefined);
	return read?.events.length === 0 ? target : undefined;
}

async function take({
	following: { chain, pool, log },
	block,
	events,
	finalized,
	stock,
}: {
	following: Following;
	block: Block;
	events: ContractEvent[];
	finalized: Block;
	stock: Awaited<ReturnType<typeof readStock>> | undefined;
}): Promise<void> {
	const { chainId } = chain;
	const hashes = await laneHashesAmong(pool, { chainId, hashes: block.transactionHashes });
	const { receipts, errors } = await readReceipts(chain, { blockHash: block.hash, hashes });
	if (errors.length > 0) throw errors[0];
	const leftOut = missingFrom(
		events,
		receipts.flatMap((receipt) => receipt.events),
	);
	if (leftOut.length > 0) {
		const told = leftOut.map(({ name, orderId, transactionHash }) => ({ name, orderId, transactionHash }));
		log.error(
			{ chainId, blockNumber: block.number, events: told },
			"a node left events out of a block's logs",
		);
	}
	const { vaults } = ourContracts(chain.deployment);
	const assets = chain.deployment.assets.map(({ address }) => address);
	const applied = {
		chainId,
		block,
		events: [...events, ...leftOut],
		mined: receipts,
		finalized,
		vaults,
		assets,
		...(stock && { stock }),
	};
	if (await applyQuietBlock(pool, applied)) return;
	const { unbooked } = await inTransaction(pool, (db) => applyBlock(db, applied));
	if (unbooked.length > 0) {
		log.error({ chainId, events: unbooked }, "the ledger cannot book events of unknown orders");
	}
}

/**
 * Returns the events that the receipts of a block have and its logs lack. A node may leave logs out of an answer. A
 * missed deposit would make its swap fail while the input is in the escrow.
 */
function missingFrom(logs: readonly ContractEvent[], receipts: readonly ContractEvent[]): ContractEvent[] {
	const seen = new Set(logs.map(({ logIndex }) => logIndex));
	return receipts.filter(({ logIndex }) => !seen.has(logIndex));
}
