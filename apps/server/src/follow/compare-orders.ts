import { type SwapUuid, unpackDeadlines } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { DatabasePool } from "../database/database.ts";
import type { Row } from "../database/rows.ts";
import { markSwaps } from "../swap/due/mark-swaps.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * The number of orders with a deposit that are compared at a time, in turn. A missed event of theirs only delays their
 * swap.
 */
const othersAtOnce = 500;

/** One side of an order: its escrow if that is on the chain, or its vault. */
export type ComparedOrder = {
	swapId: SwapUuid;
	orderId: Hex;
	openDeadline: number;
	/** The 32 bytes of the escrow or of the vault. */
	contract: Hex;
	isOrigin: boolean;
	/** The order's terms as JSON. */
	terms: unknown;
};

/**
 * Compares undecided orders with the states that the escrow and the vault themselves have at a final block, and reads
 * the events of those that differ again. A node can leave an event out of every answer, but a swap must not fail while
 * its input is in the escrow. Records the block as compared. Returns the last order that was compared, to go on from
 * there next time.
 */
export async function compareOrders({
	chainId,
	pool,
	finalized,
	after,
	log,
	readExpected,
	readAgain,
}: {
	chainId: number;
	pool: DatabasePool;
	finalized: { number: number; timestamp: number };
	/** The swap after which to go on with orders that have a deposit. */
	after: string | undefined;
	log: Log;
	/** Returns for each order the events that must have happened by the final block. */
	readExpected: (orders: readonly ComparedOrder[]) => Promise<(readonly string[])[]>;
	/** Writes the missing events of these orders, as far as the chain returns them. */
	readAgain: (orders: readonly ComparedOrder[]) => Promise<void>;
}): Promise<string | undefined> {
	const { unopened, others, at, isUnseen } = await readUndecided(pool, {
		chainId,
		finalized: finalized.number,
		after,
	});
	const orders = await readComparedOrders(pool, { chainId, swapIds: [...new Set([...unopened, ...others])] });
	if (orders.length === 0) {
		// No order waits for the comparison, and none lacks events any more.
		if (isUnseen) {
			await pool.query("update chain_heads set unseen_orders = '{}' where chain_id = $1", [chainId]);
		}
		return undefined;
	}
	const missing = await findMissing(orders);
	if (missing.length > 0) await readAgain(missing);
	const still = missing.length > 0 ? await findMissing(missing) : [];
	const unfound = [...new Set(still.map(({ orderId }) => orderId))];
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

	/** Returns the orders that lack an expected event in the store. */
	async function findMissing(some: readonly ComparedOrder[]): Promise<ComparedOrder[]> {
		const expected = await readExpected(some);
		const decided = some.flatMap((order, i) => {
			const names = expected[i] ?? [];
			return names.length > 0 ? [{ order, names }] : [];
		});
		if (decided.length === 0) return [];
		const { rows } = await pool.query<Row<"chain_events", "order_id" | "name">>(
			"select order_id, name from chain_events where chain_id = $1 and order_id = any($2::bytea[])",
			[chainId, decided.map(({ order }) => hexToBytes(order.orderId))],
		);
		const known = new Set(rows.map(({ order_id, name }) => order_id && `${bytesToHex(order_id)}:${name}`));
		return decided.flatMap(({ order, names }) =>
			names.every((name) => known.has(`${order.orderId}:${name}`)) ? [] : [order],
		);
	}
}

/**
 * Returns the undecided swaps without a final deposit on the chain, or with a missing event, and some of the others.
 */
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

/** Returns the sides of these orders that are on this chain, which are two if both their tokens are on it. */
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
		terms: unknown;
	}>(
		`select id, order_id, order_terms->>'deadlines' as deadlines,
			case when order_terms->>'originChainId' = $2 then order_terms->>'escrow' end as escrow,
			case when order_terms->>'destinationChainId' = $2 then order_terms->>'destinationVault' end as vault,
			order_terms as terms
		from swaps where id = any($1::uuid[])`,
		[swapIds, String(chainId)],
	);
	return rows.flatMap(({ id, order_id, deadlines, escrow, vault, terms }) => {
		const openDeadline = Number(unpackDeadlines(BigInt(deadlines)).openDeadline);
		const order = { swapId: id, orderId: bytesToHex(order_id), openDeadline, terms };
		return [
			...(escrow ? [{ ...order, contract: escrow, isOrigin: true }] : []),
			...(vault ? [{ ...order, contract: vault, isOrigin: false }] : []),
		];
	});
}
