import { addressOfWord, type Order, type SwapUuid, toChainId } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "./database.ts";
import type { ChainHead, Facts, OrderEvent, OrderEventData, OrderEventName, Sighting } from "./facts.ts";
import { type AttestersWanted, countAttestersAlive } from "./heartbeats.ts";
import type { Job } from "./job.ts";
import { type JobRow, jobColumns, jobFromRow } from "./jobs.ts";
import { type SwapRow, swapColumns, swapFromRow } from "./read-swap.ts";

const eventNames: readonly OrderEventName[] = ["Opened", "Released", "Refunded", "Filled", "Voided"];

/**
 * Everything that the next decision about a swap depends on; `unfollowed` where a chain's head is not known yet, `over`
 * where the swap has ended or a later execution goes on with it.
 */
export async function look(
	pool: DatabasePool,
	{
		swapId,
		execution,
		signalId,
		attestersOf,
		nowMs,
	}: {
		swapId: SwapUuid;
		/** Whose look this is: none of an earlier one comes after it. */
		execution: number;
		signalId: string;
		/** Who decides the order. */
		attestersOf: (order: Order) => AttestersWanted;
		nowMs: number;
	},
): Promise<Facts | "unfollowed" | "over" | "no-swap"> {
	// Committed before anything is read: a fact that comes later than the reading finds the signal.
	const { rowCount } = await pool.query({
		name: "look-wait",
		text: `insert into waits (swap_id, order_id, signal_id, execution)
			select id, order_id, $2, $3 from swaps where id = $1 and ended_at is null
			on conflict (swap_id) do update set signal_id = excluded.signal_id, execution = excluded.execution,
				head_chain_id = null, head_number = null, finalized_chain_id = null, finalized_number = null
				where waits.execution <= excluded.execution`,
		values: [swapId, signalId, execution],
	});
	if (rowCount === 0) {
		const { rows } = await pool.query<{ ended: boolean }>(
			"select ended_at is not null as ended from swaps where id = $1",
			[swapId],
		);
		// Another execution may have looked in the very moment in which this swap ended.
		if (rows[0]?.ended) await pool.query("delete from waits where swap_id = $1", [swapId]);
		return rows[0] ? "over" : "no-swap";
	}

	return inTransaction(pool, async (db) => {
		// All from one moment: an event without the job that it finished would be done twice.
		await db.query("set transaction isolation level repeatable read, read only");
		const { rows: swapRows } = await db.query<SwapRow & { is_reserved: boolean }>({
			name: "look-swap",
			text: `select ${swapColumns}, exists (select from reservations where swap_id = id) as is_reserved
				from swaps where id = $1`,
			values: [swapId],
		});
		const [swapRow] = swapRows;
		if (!swapRow) return "no-swap";
		const swap = swapFromRow(swapRow);
		const { order, orderId } = swap;
		const chainIds = [toChainId(order.originChainId), toChainId(order.destinationChainId)] as const;

		const { rows: headRows } = await db.query<HeadRow>({
			name: "look-heads",
			text: `select chain_id, number, timestamp, base_fee, finalized_number, finalized_timestamp, finalized_height
				from chain_heads where chain_id = any($1)`,
			values: [chainIds],
		});
		const [origin, destination] = chainIds.map((chainId) =>
			headRows.map(headFromRow).find((head) => head.chainId === chainId),
		);
		if (!origin || !destination) return "unfollowed";

		const { rows: eventRows } = await db.query<EventRow>({
			name: "look-events",
			text: `select e.name, block_number, block_hash, transaction_hash, e.data, s.head_number, s.finalized_number
				from chain_events e
				left join sightings s using (order_id, chain_id, block_number, block_hash, transaction_hash)
				where order_id = $1 and chain_id = any($2) and e.name = any($3)`,
			values: [hexToBytes(orderId), chainIds, eventNames],
		});
		const events: Facts["events"] = Object.fromEntries(eventRows.map((row) => [row.name, eventFromRow(row)]));
		const sighting = sightingFromRows(eventRows);
		const isCredited = events.Refunded?.data.paid === false;
		const claimed = isCredited ? await lookForClaim(db, { orderId, order }) : undefined;
		const { rows: jobRows } = await db.query<JobRow>({
			name: "look-jobs",
			text: `select ${jobColumns} from jobs where swap_id = $1`,
			values: [swapId],
		});
		return {
			swap,
			origin,
			destination,
			events,
			...(sighting && { sighting }),
			...(claimed && { claimed }),
			jobs: Object.fromEntries(jobRows.map((row): [string, Job] => [row.kind, jobFromRow(row)])),
			isReserved: swapRow.is_reserved,
			attestersAlive: await countAttestersAlive(db, { ...attestersOf(order), nowMs }),
		};
	});
}

/** A claim pays out all that its beneficiary is owed of a token, so the first one after the refund paid this one too. */
async function lookForClaim(
	db: Database,
	{ orderId, order }: { orderId: Hex; order: Order },
): Promise<Facts["claimed"]> {
	const { rows } = await db.query<Pick<EventRow, "block_number" | "transaction_hash">>({
		name: "look-claim",
		text: `select claimed.block_number, claimed.transaction_hash
			from chain_events refunded join chain_events claimed using (chain_id, contract)
			where refunded.order_id = $1 and refunded.chain_id = $2 and refunded.name = 'Refunded'
				and claimed.order_id is null and claimed.name = 'Claimed'
				and claimed.data->>'beneficiary' = $3 and claimed.data->>'token' = $4
				and (claimed.block_number, claimed.log_index) > (refunded.block_number, refunded.log_index)
			order by claimed.block_number, claimed.log_index limit 1`,
		values: [
			hexToBytes(orderId),
			toChainId(order.originChainId),
			addressOfWord(order.originChainId, order.wallet),
			addressOfWord(order.originChainId, order.inputToken),
		],
	});
	const [row] = rows;
	return row && { blockNumber: row.block_number, transactionHash: bytesToHex(row.transaction_hash) };
}

type HeadRow = {
	chain_id: number;
	number: number;
	timestamp: number;
	base_fee: bigint;
	finalized_number: number;
	finalized_timestamp: number;
	finalized_height: number;
};

function headFromRow(row: HeadRow): ChainHead {
	return {
		chainId: row.chain_id,
		number: row.number,
		timestamp: row.timestamp,
		baseFee: row.base_fee,
		finalizedNumber: row.finalized_number,
		finalizedTimestamp: row.finalized_timestamp,
		finalizedHeight: row.finalized_height,
	};
}

type EventRow = {
	name: OrderEventName;
	block_number: number;
	block_hash: Buffer;
	transaction_hash: Buffer;
	head_number: number | null;
	finalized_number: number | null;
	data: { paid?: boolean; delivered?: string; spentToken?: Hex; spent?: string };
};

/** On one chain a deposit and its delivery may share a transaction: what was seen is the deposit. */
function sightingFromRows(rows: readonly EventRow[]): Sighting | undefined {
	const { head_number, finalized_number } = rows.find(({ name }) => name === "Opened") ?? {};
	if (typeof head_number !== "number" || typeof finalized_number !== "number") return undefined;
	return { headNumber: head_number, finalizedNumber: finalized_number };
}

function eventFromRow({ name, block_number, block_hash, transaction_hash, data }: EventRow): OrderEvent {
	return {
		name,
		blockNumber: block_number,
		blockHash: bytesToHex(block_hash),
		transactionHash: bytesToHex(transaction_hash),
		data: eventData(name, data),
	} as OrderEvent;
}

function eventData(name: OrderEventName, data: EventRow["data"]): OrderEventData[OrderEventName] {
	if (name === "Filled") {
		return {
			delivered: BigInt(data.delivered ?? 0),
			spentToken: data.spentToken ?? "0x",
			spent: BigInt(data.spent ?? 0),
		};
	}
	return name === "Released" || name === "Refunded" ? { paid: data.paid === true } : {};
}
