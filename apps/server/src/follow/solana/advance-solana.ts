import { fromSolanaWord, type Milliseconds, toSolanaWord } from "@geoswap/protocol";
import { type Hex, hexToBytes } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readVault } from "../../chain/solana/program/read-vault.ts";
import { readHoldings, type SlotHoldings } from "../../chain/solana/read/read-holdings.ts";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import { readSlots } from "../../chain/solana/read/read-slots.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Engine } from "../../durable/engine.ts";
import { laneTarget } from "../../durable/poke-targets.ts";
import { adoptFound } from "../../job/journal/lane-transactions.ts";
import { isClosable, readRents } from "../../job/journal/rents.ts";
import { postOpening } from "../../money/ledger/post.ts";
import { addRelayers, readRelayers } from "../../money/ledger/relayers.ts";
import { insertHead, readHead, slotHash } from "../../swap/due/chain-head.ts";
import { isHeadWanted } from "../../swap/due/due-swaps.ts";
import { saveUnreadBlock } from "../../swap/due/unread-blocks.ts";
import type { Log } from "../../telemetry/log.ts";
import { wake } from "../wake.ts";
import { type AppliedSlots, applySlots, heldBy, lamportsPerSignature } from "./apply-slots.ts";
import { compareSolanaOrders, type LateTransaction } from "./compare-solana-orders.ts";
import { findReturnedRents } from "./find-returned-rents.ts";
import { closedAccounts, closedEvents, landedEvents } from "./landed-events.ts";
import { readTransactionOutcomes } from "./read-transaction-outcomes.ts";
import { readFinalWitness, readWatched, readWatchedOrders, readWatchedWork } from "./watched-transactions.ts";

/** Number of slots for which every node surely keeps a final transaction. */
const rememberedSlots = 1_000;

export type FollowingSolana = {
	chain: SolanaChain;
	pool: DatabasePool;
	engine: Engine;
	/** The fee payers of the chain's lanes, 32 bytes each. */
	relayers: readonly Hex[];
	log: Log;
	nowMs?: () => Milliseconds;
	/** Given only by a caller that is the one process that moves the head. */
	memory?: { comparedAtMs?: Milliseconds; comparedUpTo?: string | undefined };
};

/** Seconds between two pokes for rents to fetch. At 16 accounts each, that is enough for 270,000 swaps a day. */
const leftoversEverySeconds = 5;

/** Time between two comparisons of orders with their accounts. */
const compareEveryMs = 5_000;

/**
 * Applies what the chain reports about our transactions. Blocks are not scanned. What others do to orders is found by
 * comparing undecided orders with their accounts. Returns whether something was written. It can be called again after
 * any error.
 */
export async function advanceSolana(following: FollowingSolana): Promise<boolean> {
	const { chain, pool, log } = following;
	const { chainId, deployment } = chain;
	const head = await readHead(pool, chainId);
	if (!head) return startFollowingSolana(following);

	// All final state is read before the list of transactions and their statuses, so that every transaction on the chain
	// by then is found. Holdings are read first, so that the books reach no further than what is final.
	const holdings = await readFinalHoldings(following);
	const { finalized, confirmed } = await readSlots(chain);
	if (finalized.slot < head.finalizedNumber - rememberedSlots) {
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	}
	if (finalized.slot < head.finalizedNumber || confirmed.slot < head.number) {
		log.debug({ chainId, finalized, confirmed }, "the node is behind the blocks that were read before");
		return false;
	}
	if (!finalized.timestamp || !confirmed.timestamp)
		throw new Error(`chain ${chainId} returned no block time`);
	const [inventory, watched, witness] = await Promise.all([
		readInventory(chain),
		readWatched(pool, chainId),
		readFinalWitness(pool, {
			chainId,
			above: finalized.slot - rememberedSlots,
			upTo: head.finalizedNumber,
		}),
	]);
	const seen = await readTransactionOutcomes({ chain, watched, witness, finalized, confirmed });
	const { vanished, isComplete } = seen;
	if (!isComplete)
		log.warn({ chainId, slot: finalized.slot }, "the node does not return all final transactions");
	for (const { hash, slot, err } of seen.unread) {
		log.error(
			{ chainId, hash, slot, err },
			"a transaction of the service could not be read; the others are processed",
		);
		// Nothing after it becomes final. The node had all the time since its slot was confirmed to return it.
		if (slot <= finalized.slot) {
			const { cause = err } = err as { cause?: unknown };
			const reason = `transaction ${toSignature(hash)} could not be read: ${cause}`;
			await saveUnreadBlock(pool, { chainId, number: slot, hash: slotHash(slot), reason });
		}
	}
	const givenUp = new Set(watched.flatMap(({ hash, isGivenUp }) => (isGivenUp ? [hash] : [])));
	const found = seen.landed.flatMap(({ signature }) => (givenUp.has(signature) ? [signature] : []));
	if (found.length > 0) {
		const orderIds = await readWatchedOrders(pool, { chainId, hashes: found });
		log.error(
			{ chainId, hashes: found, orderIds },
			"deposits landed that had been given up; check their swaps",
		);
	}

	// Transactions that had already expired at the last head were reported then.
	const wereAlive = new Set(
		watched.flatMap(({ hash, lastValidHeight = 0 }) =>
			lastValidHeight >= head.finalizedHeight ? [hash] : [],
		),
	);
	const expired = isComplete ? seen.expired.filter((hash) => wereAlive.has(hash)) : [];
	const hasFinal = isComplete && watched.some(({ slot }) => slot !== undefined && slot <= finalized.slot);
	const isNews = seen.landed.length + vanished.length + expired.length > 0 || hasFinal;
	// Without news, the head moves only if a swap waits for it, or if it was not written for a while.
	const numbers = { number: confirmed.slot, finalizedNumber: isComplete ? finalized.slot : 0 };
	if (!isNews && !(await isHeadWanted(pool, { chainId, ...numbers }))) return false;

	if (vanished.length > 0) log.warn({ chainId, vanished }, "the chain dropped transactions");
	const applied: AppliedSlots = {
		chainId,
		after: head.hash,
		confirmed,
		landed: await describe({ following, landed: seen.landed }),
		vanished,
		dueOrderIds: await readWatchedOrders(pool, { chainId, hashes: expired }),
		inventory,
		vault: toSolanaWord(deployment.program.vault),
		...(isComplete && { finalized }),
		...(isComplete && holdings.slot <= finalized.slot && { holdings }),
	};
	const { hasRequeued, hash, unbooked } = await inTransaction(pool, (db) => applySlots(db, applied));
	if (finalized.timestamp) await compare(following, { ...applied, after: hash }, finalized);
	if (unbooked.length > 0) {
		log.error({ chainId, events: unbooked }, "the ledger cannot book events of unknown orders");
	}
	// Lanes send their transactions again about once a second; they get requeued jobs immediately.
	const occasion = hasRequeued ? hash : `second ${confirmed.timestamp}`;
	await wake({ ...following, chainId, occasion });
	await pokeForLeftovers(following, confirmed.timestamp);
	return true;
}

/** Compares orders with their accounts in the program, unless that was done a moment ago. */
async function compare(
	{ chain, pool, log, nowMs = Date.now, memory = {} }: FollowingSolana,
	applied: AppliedSlots,
	finalized: { slot: number; timestamp: number },
): Promise<void> {
	if (nowMs() - (memory.comparedAtMs ?? Number.NEGATIVE_INFINITY) < compareEveryMs) return;
	memory.comparedAtMs = nowMs();
	const { chainId, deployment } = chain;
	let { after } = applied;
	const apply = async (landed: readonly LateTransaction[]) => {
		const late = { ...applied, after, landed, vanished: [], dueOrderIds: [] };
		const found = landed
			.filter(({ feePayer }) => deployment.feePayers.includes(feePayer))
			.map(({ hash, feePayer, job }) => ({ hash, relayer: toSolanaWord(feePayer), job }));
		({ hash: after } = await inTransaction(pool, async (db) => {
			await adoptFound(db, { chainId, found });
			return applySlots(db, late);
		}));
	};
	try {
		memory.comparedUpTo = await compareSolanaOrders({
			chain,
			pool,
			finalized: { number: finalized.slot, timestamp: finalized.timestamp },
			after: memory.comparedUpTo,
			apply,
			log,
		});
		const returned = await findReturnedRents({ chain, pool, log });
		if (returned.length > 0) await apply(returned);
	} catch (err) {
		log.error({ chainId, err }, "orders could not be compared with their accounts; retrying");
	}
}

/** Reads what the vault holds, and what may leave it. */
async function readInventory(chain: SolanaChain): Promise<AppliedSlots["inventory"]> {
	const { balances, payable } = await readVault(chain, { commitment: "confirmed" });
	const decimals = new Map(
		chain.deployment.assets.map((asset) => [toSolanaWord(asset.address), asset.decimals]),
	);
	return [...balances].map(([token, balance]) => ({
		token,
		decimals: decimals.get(token) ?? 0,
		balance,
		payable: payable.get(token) ?? 0n,
	}));
}

/** Returns the events of each transaction. */
async function describe({
	following: { chain, pool, log },
	landed,
}: {
	following: FollowingSolana;
	landed: readonly Landed[];
}): Promise<AppliedSlots["landed"]> {
	if (landed.length === 0) return [];
	const { chainId, deployment } = chain;
	const works = await readWatchedWork(pool, { chainId, hashes: landed.map(({ signature }) => signature) });
	const addresses = landed
		.filter(({ signature }) => works.get(signature)?.kind === "close")
		.flatMap((transaction) => closedAccounts(transaction).map(({ address }) => address));
	const rents = await readRents(pool, { chainId, addresses });
	return Promise.all(
		landed.map(async (transaction) => {
			const { signature, slot, fee, isFailed } = transaction;
			const work = works.get(signature);
			const events = !work
				? []
				: work.kind === "close"
					? await closedEvents({ deployment, landed: transaction, rents })
					: await landedEvents({ ...work, deployment, landed: transaction });
			const told = { chainId, signature, slot, kind: work?.kind };
			if (isFailed) log.warn(told, "a transaction failed");
			else if (events.length === 0) log.error(told, "a transaction did not do what it was signed for");
			return { hash: signature, slot, fee, events };
		}),
	);
}

/**
 * Pokes a lane if rents can be fetched or transactions of a removed fee payer are left. There is no job for these, so
 * any lane does it.
 */
async function pokeForLeftovers(
	{ chain: { chainId }, pool, engine, relayers }: FollowingSolana,
	timestamp: number,
): Promise<void> {
	const [relayer] = relayers;
	if (!relayer) return;
	if (!(await hasLeftovers(pool, { chainId, relayers }))) return;
	const target = laneTarget({ chainId, relayer });
	const dedupeKey = `${target.key}:leftovers ${Math.floor(timestamp / leftoversEverySeconds)}`;
	await engine.poke(target, { dedupeKey });
}

/** Returns whether there are rents to fetch, or transactions in no block from relayers other than these. */
async function hasLeftovers(
	db: Database,
	{ chainId, relayers }: { chainId: number; relayers: readonly Hex[] },
): Promise<boolean> {
	const { rows } = await db.query<{ found: boolean }>(
		`select exists (select from rents where chain_id = $1 and returned_at is null and ${isClosable})
			or exists (select from lane_transactions
				where chain_id = $1 and state in ('signed', 'broadcast') and relayer <> all($2)) as found`,
		[chainId, relayers.map((relayer) => hexToBytes(relayer))],
	);
	return rows[0]?.found ?? false;
}

/** Reads what the vault, and all current and former fee payers, hold at a final slot. */
async function readFinalHoldings({ chain, pool, relayers }: FollowingSolana): Promise<SlotHoldings> {
	const { chainId } = chain;
	let known = await readRelayers(pool, chainId);
	if (relayers.some((relayer) => !known.includes(relayer))) {
		await addRelayers(pool, { chainId, relayers });
		known = await readRelayers(pool, chainId);
	}
	return readHoldings(chain, { commitment: "finalized", others: known.map(fromSolanaWord) });
}

/** Creates the chain's cursor if there is none. The books begin with what the vault holds at a final slot. */
async function startFollowingSolana(following: FollowingSolana): Promise<boolean> {
	const { chain, pool } = following;
	const { chainId } = chain;
	const holdings = await readFinalHoldings(following);
	const { finalized } = await readSlots(chain);
	if (holdings.slot > finalized.slot) return false;
	const { slot, timestamp, height } = finalized;
	await inTransaction(pool, async (db) => {
		await insertHead(db, {
			chainId,
			block: { number: slot, hash: slotHash(slot), timestamp, baseFee: lamportsPerSignature },
			bookedNumber: holdings.slot,
			finalizedHeight: height,
		});
		await postOpening(db, { chainId, blockNumber: holdings.slot, balances: heldBy(holdings) });
	});
	return true;
}
