import { type Milliseconds, ourContracts } from "@geoswap/protocol";
import { type Address, bytesToHex, type Hash, type Hex } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readInventory } from "../../chain/evm/read/read-balances.ts";
import { type Block, readBlock } from "../../chain/evm/read/read-block.ts";
import { readEvents } from "../../chain/evm/read/read-events.ts";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Engine } from "../../durable/engine.ts";
import { isInNoBlock } from "../../job/journal/lane-transactions.ts";
import { type FollowedHead, lockHead, readBlockHash, readHead } from "../../swap/due/chain-head.ts";
import {
	deleteUnreadBlock,
	forgetPartialBlocks,
	lockUnreadBlock,
	readUnreadBlocks,
	saveUnreadBlock,
	type UnreadBlock,
} from "../../swap/due/unread-blocks.ts";
import { readFinalityBreak } from "../../swap/pause/pauses.ts";
import type { Log } from "../../telemetry/log.ts";
import { readDemand } from "../follow-pause.ts";
import { pauseOnBrokenFinality } from "../pause-on-broken-finality.ts";
import { wake } from "../wake.ts";
import { applyBlock, applyQuietBlock } from "./apply-block.ts";
import { applyLateEvents } from "./apply-late-events.ts";
import { compareEvmOrders } from "./compare-evm-orders.ts";
import { compareHoldings } from "./compare-holdings.ts";
import { type BlockFacts, readBlockFacts, shortReason } from "./read-block-facts.ts";
import { startFollowing } from "./start-following.ts";
import { FinalityBrokenError, undoFinal, undoFork } from "./undo-blocks.ts";

/** Blocks to request concurrently if the follower is behind. Each answer can have `maxAnswerBytes`. */
const blocksAtOnce = 5;
/** The minimum number of blocks that are skipped together if they contain nothing of the service. */
const minSkipped = 5;
/** The maximum number of blocks that are skipped together. To skip them, all their events are requested. */
const maxSkipped = 2_000;
/** The newest blocks are not skipped: at least `blocks` of them, and all that are younger than `seconds`. */
const neverSkipped = { blocks: 3, seconds: 15 };

export type Following = {
	chain: EvmChain;
	pool: DatabasePool;
	engine: Engine;
	/** The relayers of this chain's lanes. */
	relayers: readonly Address[];
	/** All accounts whose gas is in the books. Absent if these are the relayers. */
	payers?: readonly Address[];
	/** The chain at several providers, which must report the same balances when a day is closed. */
	agreeing?: readonly EvmChain[];
	log: Log;
	nowMs?: () => Milliseconds;
	/** Kept by a caller that is the only process that moves the head. */
	memory?: FollowerMemory;
};

/** The follower's state that may be lost, since another follower that takes over begins without it. */
export type FollowerMemory = {
	/** The newest block when the follower last reached it. */
	hash?: Hex;
	/** The time since which the facts of a block could not be read, by its hash. */
	failing?: Map<Hash, Milliseconds>;
	/** When unread blocks were last requested. */
	requestedAtMs?: Milliseconds;
	/** When orders were last compared, and the swap to go on with. */
	comparedAtMs?: Milliseconds;
	comparedUpTo?: string | undefined;
	/** When balances were last compared with the ledger. */
	balancedAtMs?: Milliseconds;
};

/** How long a block whose facts cannot be read is requested again before it is followed without them. */
const patienceMs = 20_000;
/** How long a node may fail until its failures count as lasting. */
const outageMs = 10_000;
/** Time between two attempts to read unread blocks, and how many are tried each time. */
const unreadEveryMs = 15_000;
const unreadAtOnce = 5;
/** Time between two comparisons of orders with the contracts. */
const compareEveryMs = 5_000;
/** Time between two comparisons of balances with the ledger. */
const balanceEveryMs = 15_000;

/**
 * Applies what the chain has beyond the head, which is new blocks or a reorg. Returns whether there was anything new.
 * It can be called again after any error.
 */
export async function advance(following: Following): Promise<boolean> {
	const { chain, pool, log, nowMs = Date.now } = following;
	const { chainId } = chain;
	const { memory = {} } = following;
	const latest = await readBlock(chain, "latest");
	if (latest.hash === memory.hash) return false;
	const head = await readHead(pool, chainId);
	if (!head) return startFollowing({ ...following, relayers: following.payers ?? following.relayers });
	if (latest.hash === head.hash) {
		memory.hash = latest.hash;
		return false;
	}
	if (latest.number < head.finalizedNumber)
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	const finalized = await readBlock(chain, "finalized");
	if (await isForked({ pool, chainId, head, latest, finalized })) return undo();
	if (latest.number <= head.number) return false;
	const skipped = await findSkip({ chain, pool, head, latest });
	if (skipped) {
		const inventory = await readInventory(chain, { blockNumber: skipped.number });
		const still = await readBlock(chain, head.number);
		if (still.hash !== head.hash) return undo();
		const facts = { events: [], mined: [], isComplete: true };
		await take({ following, block: { ...skipped, parentHash: head.hash }, facts, finalized, inventory });
		await lookBack(skipped.number);
		await wake({ ...following, chainId, occasion: skipped.hash });
		// The newest blocks can wait for the next call, unless a swap may be waiting for them.
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
			const isLasting = failingMs(block) >= outageMs;
			return { block, facts: await readBlockFacts({ chain, pool, block, isLasting, log }) };
		}),
	);
	let parent: { number: number; hash: Hex } = head;
	for (const { block, facts } of blocks) {
		if (block.parentHash !== parent.hash) return undo();
		if (facts.error !== undefined) await bePatient(block, facts.error);
		const inventory =
			block === latest ? await readInventory(chain, { blockNumber: block.number }) : undefined;
		await take({ following, block, facts, finalized, inventory });
		parent = block;
	}
	memory.failing?.clear();
	await lookBack(parent.number);
	await wake({ ...following, chainId, occasion: parent.hash });
	return true;

	/**
	 * Throws the error until the block has been requested for long enough, unless others of the chain are unread already.
	 */
	async function bePatient(block: Block, error: unknown): Promise<void> {
		const { number } = block;
		const isOver = failingMs(block) >= patienceMs;
		const [first] = await readUnreadBlocks(pool, { chainId, limit: 1 });
		if (!isOver && (!first || first.isPartial)) throw error;
		log.error(
			{ chainId, blockNumber: number, reason: shortReason(error) },
			"a block is followed without all of its events; the chain takes no new swaps until a node returns them",
		);
	}

	/** Returns the time since the block was first requested. */
	function failingMs({ hash }: Block): Milliseconds {
		memory.failing ??= new Map();
		const sinceMs = memory.failing.get(hash) ?? nowMs();
		memory.failing.set(hash, sinceMs);
		return nowMs() - sinceMs;
	}

	/** Reads what is missing from blocks that were followed. A failure delays that and nothing else. */
	async function lookBack(number: number): Promise<void> {
		const isDue = (lastMs: Milliseconds | undefined, everyMs: Milliseconds) =>
			lastMs === undefined || nowMs() - lastMs >= everyMs;
		if (isDue(memory.requestedAtMs, unreadEveryMs)) {
			memory.requestedAtMs = nowMs();
			try {
				const unread = await readUnreadBlocks(pool, { chainId, limit: unreadAtOnce });
				for (const block of unread) await readUnread(following, block);
				if (unread.length > 0) await forgetPartialBlocks(pool, chainId);
			} catch (error) {
				log.error({ chainId, err: error }, "unread blocks could not be requested; retrying");
			}
		}
		try {
			if (isDue(memory.comparedAtMs, compareEveryMs) && finalized.number <= number) {
				memory.comparedAtMs = nowMs();
				const after = memory.comparedUpTo;
				memory.comparedUpTo = await compareEvmOrders({ chain, pool, finalized, after, log });
			}
		} catch (error) {
			log.error({ chainId, err: error }, "orders could not be compared with the contracts; retrying");
		}
		try {
			if (!isDue(memory.balancedAtMs, balanceEveryMs)) return;
			memory.balancedAtMs = nowMs();
			for (const { key } of await compareHoldings({
				...following,
				relayers: following.payers ?? following.relayers,
			})) {
				log.info({ chainId, posting: key }, "an amount that no event of a vault shows is booked");
			}
		} catch (error) {
			log.error({ chainId, err: error }, "balances could not be compared with the ledger; retrying");
		}
	}

	async function undo(): Promise<boolean> {
		// The chain may return to the block that was newest before.
		delete memory.hash;
		memory.failing?.clear();
		const seen = (await readHead(pool, chainId)) ?? (head as FollowedHead);
		const known = await readFinalityBreak(pool, chainId);
		// No block is applied until an operator has decided, unless the chain has its blocks again.
		if (known === "paused") return false;
		const undone = await undoFork({ chain, pool, head: seen, latestNumber: latest.number }).catch(
			async (error: unknown) => {
				if (!(error instanceof FinalityBrokenError)) throw error;
				return known === "accepted" ? accept(seen) : stop(seen, error);
			},
		);
		if (!undone) return false;
		log.warn({ chainId, from: seen.number, to: undone.number }, "the chain dropped blocks");
		// The next block that is applied may be this very one, and must poke again.
		const occasion = `${latest.hash} without ${seen.hash}`;
		await wake({ ...following, chainId, occasion });
		return true;
	}

	/**
	 * Pauses the chain. Throws if another follower has moved the head, because that follower may have continued with
	 * the chain's current blocks.
	 */
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

/** Returns whether the chain has dropped a block that was applied. A node that is only behind has not forked. */
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
 * Returns a block up to which the blocks after the head contain nothing of the service, or undefined if they must be
 * read one by one. If no swap waits, there may be many blocks, and a few requests are enough to show that our relayers
 * have mined nothing since, and that the contracts have no events in that range. The newest blocks are never requested
 * like this, because a provider's backend that is behind would answer as if they were empty, and they may still be
 * dropped.
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
	if (to - head.number < minSkipped) return;
	// The block is read before the other requests. If the chain drops it meanwhile, the next run finds out by its hash.
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
	facts: { events, mined, error, isComplete },
	finalized,
	inventory,
}: {
	following: Following;
	block: Block;
	facts: BlockFacts;
	finalized: Block;
	inventory: Awaited<ReturnType<typeof readInventory>> | undefined;
}): Promise<void> {
	const { chainId } = chain;
	const { vaults } = ourContracts(chain.deployment);
	const assets = chain.deployment.assets.map(({ address }) => address);
	const applied = {
		chainId,
		block,
		events,
		mined,
		finalized,
		vaults,
		assets,
		...(inventory && { inventory }),
	};
	if (isComplete && error === undefined && (await applyQuietBlock(pool, applied))) return;
	const { unbooked } = await inTransaction(pool, async (db) => {
		const unread = unreadOf(block, { error, isComplete });
		if (unread) await saveUnreadBlock(db, { chainId, ...unread });
		return applyBlock(db, applied);
	});
	if (unbooked.length > 0) {
		log.error({ chainId, events: unbooked }, "the ledger cannot book events of unknown orders");
	}
}

/** Returns a block as one that is to be requested again; undefined if nothing of it is missing. */
function unreadOf(
	{ number, hash }: Pick<Block, "number" | "hash">,
	{ error, isComplete }: Pick<BlockFacts, "error" | "isComplete">,
): UnreadBlock | undefined {
	if (error !== undefined) return { number, hash, reason: shortReason(error), isPartial: false };
	const reason = "a node returned only events of known orders";
	return isComplete ? undefined : { number, hash, reason, isPartial: true };
}

/**
 * Requests the facts of an unread block again, and writes all that could be read. Does nothing if the chain has dropped
 * the block, which another follower may have noticed meanwhile.
 */
async function readUnread({ chain, pool, log }: Following, { number, hash }: UnreadBlock): Promise<void> {
	const { chainId } = chain;
	const block = await readBlock(chain, number);
	if (block.hash !== hash) return;
	const facts = await readBlockFacts({ chain, pool, block, isLasting: false, log });
	const unread = unreadOf(block, facts);
	const isWritten = await inTransaction(pool, async (db) => {
		await lockHead(db, chainId);
		if (!(await lockUnreadBlock(db, { chainId, number, hash }))) return false;
		await applyLateEvents(db, {
			chain,
			events: facts.events.map((event) => ({ ...event, blockNumber: number, blockHash: hash })),
			mined: facts.mined.map((one) => ({ ...one, blockNumber: number })),
		});
		if (unread) await saveUnreadBlock(db, { chainId, ...unread });
		else await deleteUnreadBlock(db, { chainId, number });
		return true;
	});
	if (isWritten && !unread) log.info({ chainId, blockNumber: number }, "an unread block was read");
}

/** Returns the lowest nonce of each relayer that has a transaction in flight, none of whose attempts is in a block. */
async function readOpenNonces(db: Database, chainId: number): Promise<{ relayer: Address; nonce: number }[]> {
	const { rows } = await db.query<{ relayer: Buffer; nonce: number }>(
		`select relayer, min(nonce)::float8 as nonce from lane_transactions as open
			where chain_id = $1 and state in ('signed', 'broadcast') and ${isInNoBlock} group by relayer`,
		[chainId],
	);
	return rows.map(({ relayer, nonce }) => ({ relayer: bytesToHex(relayer), nonce }));
}
