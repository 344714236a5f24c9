import {
	fromWord,
	geoEscrowAbi,
	geoVaultAbi,
	moneyEventTopics,
	type SwapUuid,
	swapUuidTimeMs,
	unpackDeadlines,
} from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { EvmChain } from "../../chain/evm/chain-client.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type EventInBlock, readEvents } from "../../chain/evm/read/read-events.ts";
import { type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import { markSwaps } from "../../swap/due/mark-swaps.ts";
import type { Log } from "../../telemetry/log.ts";
import { applyLateEvents } from "./apply-late-events.ts";
import { isRefusal, shortReason } from "./read-block-facts.ts";

/** Orders whose states one call reads. */
const statesAtOnce = 500;
/** Orders with a deposit that are compared at a time, in turn: a missed event of theirs only delays their swap. */
const othersAtOnce = 500;

/** How far the clock of a chain may be behind ours. */
const maxClockLagSeconds = 600;

/** The events that an escrow, or a vault, has emitted for an order in this state. */
const escrowEvents = [[], ["Opened"], ["Opened", "Released"], ["Opened", "Refunded"]] as const;
const vaultEvents = [[], ["Filled"], ["Voided"]] as const;

type ComparedOrder = {
	swapId: SwapUuid;
	orderId: Hex;
	openDeadline: number;
	contract: Hex;
	isOrigin: boolean;
};

/**
 * Compares undecided orders with the states that the contracts themselves have at a final block, and reads the events
 * again of those that differ: a node can leave a log out of every answer, but a swap must not fail while its input is in
 * the escrow. Records the block as compared. Returns the last order that was compared, to go on from there next time.
 */
export async function compareOrders({
	chain,
	pool,
	finalized,
	after,
	log,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	finalized: { number: number; timestamp: number };
	/** The swap after which to go on with orders that have a deposit. */
	after: string | undefined;
	log: Log;
}): Promise<string | undefined> {
	const { chainId } = chain;
	const { unopened, others, at, isUnseen } = await readUndecided(pool, {
		chainId,
		finalized: finalized.number,
		after,
	});
	const orders = await readComparedOrders(pool, { chainId, swapIds: [...new Set([...unopened, ...others])] });
	if (orders.length === 0) {
		// Nothing waits for the comparison, and no order is unseen any more.
		if (isUnseen) {
			await pool.query("update chain_heads set unseen_orders = '{}' where chain_id = $1", [chainId]);
		}
		return undefined;
	}
	const missing = await findMissing({ chain, pool, orders, finalized: finalized.number });
	const unfound = missing.length > 0 ? await readAgain({ chain, pool, orders: missing, finalized, log }) : [];
	if (unfound.length > 0) {
		log.error(
			{ chainId, blockNumber: finalized.number, orderIds: unfound },
			"the contracts have decided orders whose events no node returns; add another node",
		);
	}
	await pool.query(
		`update chain_heads set compared_number = $2, compared_timestamp = $3, unseen_orders = $4, compared_at = $5
		where chain_id = $1 and compared_number <= $2`,
		[chainId, finalized.number, finalized.timestamp, unfound.map((orderId) => hexToBytes(orderId)), at],
	);
	// They can end now. The next final block, for which they wait, may be minutes away.
	const withoutDeposit = new Set(unopened);
	const waiting = orders.filter(
		({ isOrigin, openDeadline, swapId }) =>
			isOrigin && openDeadline < finalized.timestamp && withoutDeposit.has(swapId),
	);
	await markSwaps(
		pool,
		waiting.map(({ swapId }) => swapId),
	);
	return others.length < othersAtOnce ? undefined : others.at(-1);
}

/** Returns the undecided swaps without a final deposit on the chain, or with an unseen event, and some of the others. */
async function readUndecided(
	pool: DatabasePool,
	{ chainId, finalized, after }: { chainId: number; finalized: number; after: string | undefined },
): Promise<{
	unopened: SwapUuid[];
	others: SwapUuid[];
	/** When they were read. */
	at: Date;
	/** True if events of an order were missing after the last comparison. */
	isUnseen: boolean;
}> {
	const { rows: known } = await pool.query<{ at: Date; isUnseen: boolean }>(
		`select now() as at, unseen_orders <> '{}' as "isUnseen" from chain_heads where chain_id = $1`,
		[chainId],
	);
	const [unopened, others] = await Promise.all([
		pool.query<{ swap_id: SwapUuid }>(
			`select swap_id from waits w where not exists (
				select from chain_events e where e.order_id = w.order_id and e.name = 'Opened' and e.block_number <= $2
					and e.chain_id = $1
			) or order_id = any((select unseen_orders from chain_heads where chain_id = $1)::bytea[])`,
			[chainId, finalized],
		),
		pool.query<{ swap_id: SwapUuid }>(
			"select swap_id from waits where $1::uuid is null or swap_id > $1 order by swap_id limit $2",
			[after ?? null, othersAtOnce],
		),
	]);
	return {
		unopened: unopened.rows.map((row) => row.swap_id),
		others: others.rows.map((row) => row.swap_id),
		at: known[0]?.at ?? new Date(0),
		isUnseen: known[0]?.isUnseen ?? false,
	};
}

/** Returns the orders with the contract on this chain that knows their state: two if both their tokens are on it. */
async function readComparedOrders(
	pool: DatabasePool,
	{ chainId, swapIds }: { chainId: number; swapIds: readonly string[] },
): Promise<ComparedOrder[]> {
	if (swapIds.length === 0) return [];
	const { rows } = await pool.query<{
		id: SwapUuid;
		order_id: Buffer;
		deadlines: string;
		escrow: Hex | null;
		vault: Hex | null;
	}>(
		`select id, order_id, order_terms->>'deadlines' as deadlines,
			case when order_terms->>'originChainId' = $2 then order_terms->>'escrow' end as escrow,
			case when order_terms->>'destinationChainId' = $2 then order_terms->>'destinationVault' end as vault
		from swaps where id = any($1::uuid[])`,
		[swapIds, String(chainId)],
	);
	return rows.flatMap(({ id, order_id, deadlines, escrow, vault }) => {
		const openDeadline = Number(unpackDeadlines(BigInt(deadlines)).openDeadline);
		const order = { swapId: id, orderId: bytesToHex(order_id), openDeadline };
		return [
			...(escrow ? [{ ...order, contract: fromWord(escrow), isOrigin: true }] : []),
			...(vault ? [{ ...order, contract: fromWord(vault), isOrigin: false }] : []),
		];
	});
}

/** Returns the orders of which an event is missing that their contract must have emitted. */
async function findMissing({
	chain,
	pool,
	orders,
	finalized,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	orders: readonly ComparedOrder[];
	finalized: number;
}): Promise<ComparedOrder[]> {
	const states: number[] = [];
	for (let i = 0; i < orders.length; i += statesAtOnce) {
		const some = await chain.client.multicall({
			allowFailure: false,
			batchSize: 0,
			blockNumber: BigInt(finalized),
			contracts: orders.slice(i, i + statesAtOnce).map(({ contract, orderId, isOrigin }) => ({
				address: contract,
				abi: isOrigin ? geoEscrowAbi : geoVaultAbi,
				functionName: "orderState" as const,
				args: [orderId] as const,
			})),
		});
		states.push(...some);
	}
	const decided = orders.flatMap((order, i) => (states[i] ? [{ order, state: states[i] }] : []));
	if (decided.length === 0) return [];
	const { rows } = await pool.query<Row<"chain_events", "order_id" | "name">>(
		"select order_id, name from chain_events where chain_id = $1 and order_id = any($2::bytea[])",
		[chain.chainId, decided.map(({ order }) => hexToBytes(order.orderId))],
	);
	const known = new Set(rows.map(({ order_id, name }) => order_id && `${bytesToHex(order_id)}:${name}`));
	return decided.flatMap(({ order, state }) => {
		const expected: readonly string[] = (order.isOrigin ? escrowEvents : vaultEvents)[state] ?? [];
		return expected.every((name) => known.has(`${order.orderId}:${name}`)) ? [] : [order];
	});
}

/** Reads the events of these orders since they were quoted, and writes the missing ones. Returns orders that still lack one. */
async function readAgain({
	chain,
	pool,
	orders,
	finalized,
	log,
}: {
	chain: EvmChain;
	pool: DatabasePool;
	orders: readonly ComparedOrder[];
	finalized: { number: number };
	log: Log;
}): Promise<Hex[]> {
	const { chainId } = chain;
	const quotedAtMs = Math.min(...orders.map(({ swapId }) => swapUuidTimeMs(swapId)));
	const unixSeconds = quotedAtMs / 1_000 - maxClockLagSeconds;
	const fromBlock = await firstBlockAt(chain, { unixSeconds, upTo: finalized.number });
	const { Claimed, Withdrawn, ...topics } = moneyEventTopics();
	const added: EventInBlock[] = [];
	// One by one: an order whose logs a node refuses must not hold up others.
	for (const orderId of new Set(orders.map((order) => order.orderId))) {
		const range = { fromBlock, toBlock: finalized.number };
		const read = await readEvents(chain, {
			...range,
			topics: Object.values(topics),
			subjects: [orderId],
			isSplit: isRefusal,
		}).catch((error: unknown) => {
			log.error({ chainId, orderId, reason: shortReason(error) }, "events of an order could not be read");
			return undefined;
		});
		const { events = [] } = read ?? {};
		added.push(...(await inTransaction(pool, (db) => applyLateEvents(db, { chain, events }))));
	}
	if (added.length > 0) {
		const told = added.map(({ name, orderId, transactionHash }) => ({ name, orderId, transactionHash }));
		log.error({ chainId, events: told }, "a node left events out of the logs of final blocks");
	}
	const still = await findMissing({ chain, pool, orders, finalized: finalized.number });
	return [...new Set(still.map(({ orderId }) => orderId))];
}

/** Returns the first block that is not older than a time, by bisection. */
async function firstBlockAt(
	chain: EvmChain,
	{ unixSeconds, upTo }: { unixSeconds: number; upTo: number },
): Promise<number> {
	let [low, high] = [Math.min(chain.deployment.deployedAtBlock, upTo), upTo];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		const { timestamp } = await readBlock(chain, middle);
		if (timestamp < unixSeconds) low = middle + 1;
		else high = middle;
	}
	return low;
}
