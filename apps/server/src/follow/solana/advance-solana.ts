import { type Seconds, toSolanaWord } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readHoldings } from "../../chain/solana/read/read-holdings.ts";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import { readSlots } from "../../chain/solana/read/read-slots.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Engine } from "../../durable/durable.ts";
import { readHead, slotHash } from "../../swap/due/chain-head.ts";
import { isHeadWanted } from "../../swap/due/due-swaps.ts";
import { saveUnreadBlock } from "../../swap/due/unread-blocks.ts";
import type { Log } from "../../telemetry/log.ts";
import { wake } from "../wake.ts";
import { type AppliedSlots, applySlots } from "./apply-slots.ts";
import { closedAccounts, closedEvents } from "./closed-events.ts";
import { hasLeftovers } from "./has-leftovers.ts";
import { landedEvents } from "./landed-events.ts";
import { readMarkerLamports } from "./marker-lamports.ts";
import { seeTransactions } from "./see-transactions.ts";
import { startFollowingSolana } from "./start-following-solana.ts";
import { readFinalWitness, readWatched, readWatchedOrders, readWatchedWork } from "./watched-transactions.ts";

/** Number of slots for which every node surely keeps a final transaction. */
const rememberedSlots = 1_000;

export type FollowingSolana = {
	chain: SolanaChain;
	pool: DatabasePool;
	engine: Engine;
	/** The fee payers of the chain's lanes, 32 bytes each. */
	relayers: readonly Hex[];
	/** The most whole tokens that may leave the vault in an hour, by symbol. */
	outflowCaps: Readonly<Record<string, string>>;
	/** Age at which markers are closed. */
	markerSeconds: Seconds;
	log: Log;
};

/**
 * Takes in what the chain reports about our transactions. There is no scan of blocks: only transactions that our lanes
 * signed can move our funds. Returns whether something was written. Whatever it throws, it can be called again.
 */
export async function advanceSolana(following: FollowingSolana): Promise<boolean> {
	const { chain, pool, log } = following;
	const { chainId, deployment } = chain;
	const head = await readHead(pool, chainId);
	if (!head) return startFollowingSolana({ chain, pool });

	// All final state is read before the list of transactions and their statuses, so that every transaction on the chain
	// by then is seen. Holdings are read first, so that the books reach no further than what is final.
	const holdings = await readHoldings(chain, { commitment: "finalized" });
	const { finalized, confirmed } = await readSlots(chain);
	if (finalized.slot < head.finalizedNumber - rememberedSlots) {
		throw new Error(`the node of chain ${chainId} is behind a final block`);
	}
	if (finalized.slot < head.finalizedNumber || confirmed.slot < head.number) {
		log.debug({ chainId, finalized, confirmed }, "the node is behind the blocks seen before");
		return false;
	}
	if (!finalized.timestamp || !confirmed.timestamp)
		throw new Error(`chain ${chainId} returned no block time`);
	const [held, watched, witness] = await Promise.all([
		readHoldings(chain, { commitment: "confirmed" }),
		readWatched(pool, chainId),
		readFinalWitness(pool, {
			chainId,
			above: finalized.slot - rememberedSlots,
			upTo: head.finalizedNumber,
		}),
	]);
	const seen = await seeTransactions({ chain, watched, witness, finalized, confirmed });
	const { vanished, isComplete } = seen;
	if (!isComplete)
		log.warn({ chainId, slot: finalized.slot }, "the node does not return all final transactions");
	for (const { hash, slot, err } of seen.unread) {
		log.error(
			{ chainId, hash, slot, err },
			"a transaction of ours could not be read; the others are taken in",
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
			"deposits landed that had been given up: check their swaps",
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
		stock: deployment.assets.map(({ address, symbol, decimals }) => {
			const token = toSolanaWord(address);
			const cap = following.outflowCaps[symbol];
			const balance = held.vault.get(token) ?? 0n;
			return { token, balance, ...(cap === undefined ? {} : { outflowCap: parseUnits(cap, decimals) }) };
		}),
		vault: toSolanaWord(deployment.vault),
		...(isComplete && { finalized }),
		...(isComplete && holdings.slot <= finalized.slot && { holdings }),
	};
	const { hasRequeued, hash, unbooked } = await inTransaction(pool, (db) => applySlots(db, applied));
	if (unbooked.length > 0) {
		log.error({ chainId, events: unbooked }, "the ledger cannot book events of unknown orders");
	}
	// Lanes send their transactions again about once a second; they get requeued jobs at once.
	const occasion = hasRequeued ? hash : `second ${confirmed.timestamp}`;
	await wake({ ...following, chainId, occasion });
	await pokeForLeftovers(following, confirmed.timestamp);
	return true;
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
	const markerLamports = await readMarkerLamports(pool, { chainId, addresses });
	return Promise.all(
		landed.map(async (transaction) => {
			const { signature, slot, fee, isFailed } = transaction;
			const work = works.get(signature);
			const events = !work
				? []
				: work.kind === "close"
					? closedEvents({ deployment, landed: transaction, markerLamports })
					: await landedEvents({ deployment, landed: transaction, work });
			const told = { chainId, signature, slot, kind: work?.kind };
			if (isFailed) log.warn(told, "a transaction failed");
			else if (events.length === 0) log.error(told, "a transaction did not do what it was signed for");
			return { hash: signature, slot, fee, events };
		}),
	);
}

/**
 * Pokes a lane if old markers or transactions of a removed fee payer are left. No job is for them: any lane does it.
 */
async function pokeForLeftovers(
	{ chain: { chainId }, pool, engine, relayers, markerSeconds }: FollowingSolana,
	timestamp: number,
): Promise<void> {
	const [relayer] = relayers;
	const madeBefore = new Date((timestamp - markerSeconds) * 1_000);
	if (!relayer) return;
	if (!(await hasLeftovers(pool, { chainId, madeBefore, relayers }))) return;
	const key = `${chainId}:${relayer.toLowerCase()}`;
	const dedupeKey = `${key}:leftovers ${Math.floor(timestamp / 60)}`;
	await engine.poke({ object: "lane", key }, { dedupeKey });
}
