import type { Wei } from "@geoswap/protocol";
import { type Address, type Hash, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import { countFailures } from "../../job/count-failures.ts";
import { settleNonces } from "../../job/journal/lane-transactions.ts";
import { doneJobs } from "../../job/queue-jobs.ts";
import { markDepositsFinal } from "../../money/exposure.ts";
import { type InventoryBalance, saveInventory } from "../../money/inventory/inventory-balance.ts";
import { bookFinal } from "../../money/ledger/book-final.ts";
import type { BlockHeader } from "../../swap/due/chain-head.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { noteUnknownOrders, takeUpStatement } from "../../swap/record/unknown-orders.ts";
import { readClaimedOrders } from "./read-claimed-orders.ts";

type BlockEvent = {
	name: string;
	data: object;
	orderId: Hex | undefined;
	contract: Address;
	transactionHash: Hash;
	logIndex: number;
};

export type AppliedBlock = {
	chainId: number;
	block: BlockHeader & { parentHash: Hash };
	events: readonly BlockEvent[];
	/** Our lanes' transactions that are in the block. */
	mined: readonly { hash: Hash; gasCost: Wei }[];
	finalized: { number: number; hash: Hash; timestamp: number };
	/** All our vaults on the chain. */
	vaults: readonly Address[];
	/** The tokens that the service offers on the chain. */
	assets: readonly Address[];
	/** The vault's inventory, read at this block; absent if it is not the newest. */
	inventory?: readonly InventoryBalance[];
};

/**
 * Applies a block in which nothing of the service happened, with one statement. Does nothing and returns false if more
 * must be written, because something became final, a job was not done, the inventory changed, or the head is not the
 * block's parent.
 */
export async function applyQuietBlock(db: Database, applied: AppliedBlock): Promise<boolean> {
	if (applied.events.length + applied.mined.length > 0) return false;
	const { rowCount } = await db.query({
		name: "apply-quiet-block",
		...namedParameters(
			blockStatement("and not (hasFailed or hasFinal or hasMinedFinal or isOtherInventory)"),
			blockValues(applied),
		),
	});
	return rowCount === 1;
}

/**
 * Applies the block after the head, all of it or nothing. Marks the swaps that something happened to. Returns the final
 * events that the ledger could not book, because their order is not known.
 */
export async function applyBlock(db: Database, applied: AppliedBlock): Promise<{ unbooked: string[] }> {
	const { chainId, block, events, vaults, assets, inventory = [] } = applied;
	const { rows } = await db.query<BlockRow>({
		name: "apply-block",
		...namedParameters(blockStatement(""), blockValues(applied)),
	});
	const [row] = rows;
	// Another follower was faster, or took this one's place.
	if (!row) throw new Error(`block ${block.number} does not follow the head`);
	const failed = row.hasFailed ? await countFailures(db, { chainId, headNumber: block.number }) : [];
	let unbooked: string[] = [];
	// The events of a block that is final already are final with it.
	const isFinal = block.number <= row.finalized;
	if (row.hasFinal || row.hasMinedFinal || isFinal) {
		const upTo = row.finalized;
		if (row.hasFinal || isFinal) await noteUnknownOrders(db, { chainId, after: row.finalizedBefore, upTo });
		const gas =
			row.hasMinedFinal || isFinal ? await settleNonces(db, { chainId, finalizedNumber: upTo }) : [];
		({ unbooked } = await bookFinal(db, {
			chainId,
			after: row.bookedBefore,
			upTo,
			gas,
			vaults,
			assets,
		}));
	}
	const claimed = await readClaimedOrders(db, { chainId, events });
	const orderIds = [...new Set([...events.flatMap((event) => event.orderId ?? []), ...failed, ...claimed])];
	await markOrders(db, orderIds);
	// Written last, because every submit to a token of this chain waits for these rows.
	if (row.isOtherInventory) await saveInventory(db, { chainId, blockNumber: block.number, inventory });
	if (row.hasFinal || isFinal) {
		const after = Math.min(row.finalizedBefore, block.number - 1);
		await markDepositsFinal(db, { chainId, after, upTo: row.finalized });
	}
	return { unbooked };
}

type BlockRow = {
	finalized: number;
	finalizedBefore: number;
	bookedBefore: number;
	hasFailed: boolean;
	hasFinal: boolean;
	hasMinedFinal: boolean;
	isOtherInventory: boolean;
};

/**
 * Conditions for the work that is left after a block, as known before it. The block itself adds nothing to that work
 * unless it is final already.
 */
const left: Record<Exclude<keyof BlockRow, "finalized" | "finalizedBefore" | "bookedBefore">, string> = {
	hasFailed: `exists (select from jobs j join lane_transactions t using (chain_id, relayer, nonce)
		where chain_id = $chainId and j.state = 'sent' and t.state in ('mined', 'final') and t.block_number < $number)`,
	hasFinal: `exists (select from chain_events where chain_id = $chainId
		and block_number > least(old.booked_number, old.finalized_number)
		and block_number <= greatest(old.finalized_number, $finalizedNumber))`,
	hasMinedFinal: `exists (select from lane_transactions
		where chain_id = $chainId and state = 'mined' and block_number <= greatest(old.finalized_number, $finalizedNumber))`,
	isOtherInventory: `exists (select from unnest($inventoryTokens::bytea[], $inventoryBalances::numeric[], $outflowsAvailable::numeric[])
			as n (token, balance, available)
		left join inventory s on s.chain_id = $chainId and s.token = n.token
		where (s.balance, s.outflow_available) is distinct from (n.balance, n.available))`,
};

/**
 * Returns SQL that moves the head and writes the block and its events, and the newest final block, which may have been
 * skipped. It also marks the jobs that the events complete
 * as done, and our transactions in the block as mined.
 */
function blockStatement(condition: string): string {
	const names = new RegExp(Object.keys(left).join("|"), "g");
	const written = condition.replace(names, (name) => left[name as keyof typeof left]);
	const columns = Object.entries(left).map(([name, expression]) => `${expression} as "${name}"`);
	return `with head as (
			update chain_heads h set number = $number, hash = $hash, timestamp = $timestamp,
				base_fee = $baseFee, updated_at = now(),
				finalized_timestamp = case when $finalizedNumber > h.finalized_number then $finalizedTimestamp
					else h.finalized_timestamp end,
				finalized_number = greatest(h.finalized_number, $finalizedNumber),
				booked_number = greatest(h.booked_number, $finalizedNumber)
			from (select chain_id, finalized_number, booked_number from chain_heads) old
			where h.chain_id = $chainId and old.chain_id = $chainId and h.hash = $parentHash ${written}
			returning h.finalized_number as finalized, old.finalized_number, old.booked_number
		), block as (
			insert into chain_blocks (chain_id, number, hash, timestamp) select $chainId, $number, $hash, $timestamp from head
		), final as (
			insert into chain_blocks (chain_id, number, hash, timestamp)
			select $chainId, $finalizedNumber, $finalizedHash, $finalizedTimestamp from head
			where $finalizedNumber < $number and $finalizedNumber > head.finalized_number
			on conflict do nothing
		), pruned as (
			delete from chain_blocks b using head where b.chain_id = $chainId and b.number < head.finalized
		), happened as (
			insert into chain_events (chain_id, block_number, block_hash, log_index, transaction_hash, contract, order_id,
				name, data)
			select $chainId, $number, $hash, log_index, transaction_hash, contract, order_id, name, data
			from head, unnest($logIndexes::int[], $transactionHashes::bytea[], $contracts::bytea[], $orderIds::bytea[],
				$names::text[], $data::jsonb[]) as e (log_index, transaction_hash, contract, order_id, name, data)
		), timed as (
			insert into block_times (chain_id, number, timestamp) select $chainId, $number, $timestamp from head
			where cardinality($logIndexes::int[]) + cardinality($minedHashes::bytea[]) > 0 on conflict do nothing
		), held as materialized (
			select swap_id, kind from jobs where chain_id = $chainId and exists (select from head) and (order_id, kind) in (
				select order_id, kind from unnest($doneOrderIds::bytea[], $doneKinds::text[]) as d (order_id, kind)
			) order by swap_id, kind for update
		), done as (
			update jobs j set state = 'done', reason = null, lease = null, leased_until = null, updated_at = now()
			from held where (j.swap_id, j.kind) = (held.swap_id, held.kind)
		), mined as (
			update lane_transactions t set state = 'mined', block_number = $number, gas_cost = m.gas_cost
			from head, unnest($minedHashes::bytea[], $gasCosts::numeric[]) as m (hash, gas_cost)
			where t.chain_id = $chainId and t.hash = m.hash
		), filled as (${takeUpStatement("$filledOrderIds", "exists (select from head)")})
		select finalized, finalized_number as "finalizedBefore", booked_number as "bookedBefore", ${columns.join(", ")}
		from head old`;
}

function blockValues({ chainId, block, events, mined, finalized, inventory = [] }: AppliedBlock) {
	// A block that was not applied yet may hold an event, so nothing beyond this follower's block counts as final.
	const { number: finalizedNumber, hash, timestamp } = finalized.number > block.number ? block : finalized;
	const done = doneJobs(events);
	return {
		chainId,
		number: block.number,
		hash: hexToBytes(block.hash),
		parentHash: hexToBytes(block.parentHash),
		timestamp: block.timestamp,
		baseFee: block.baseFee,
		finalizedNumber,
		finalizedTimestamp: timestamp,
		inventoryTokens: inventory.map(({ token }) => hexToBytes(token)),
		inventoryBalances: inventory.map(({ balance }) => balance),
		outflowsAvailable: inventory.map(({ outflowAvailable }) => outflowAvailable),
		...eventColumns(events),
		doneOrderIds: done.map((job) => hexToBytes(job.orderId)),
		doneKinds: done.map((job) => job.kind),
		minedHashes: mined.map(({ hash }) => hexToBytes(hash)),
		gasCosts: mined.map(({ gasCost }) => gasCost),
		filledOrderIds: events.flatMap(({ name, orderId }) =>
			name === "Filled" && orderId ? hexToBytes(orderId) : [],
		),
		finalizedHash: hexToBytes(hash),
	};
}

/** Returns events as parameters of a statement that writes them, without their blocks. */
export function eventColumns(events: AppliedBlock["events"]) {
	return {
		logIndexes: events.map((event) => event.logIndex),
		transactionHashes: events.map((event) => hexToBytes(event.transactionHash)),
		contracts: events.map((event) => hexToBytes(event.contract)),
		orderIds: events.map((event) => (event.orderId ? hexToBytes(event.orderId) : null)),
		names: events.map((event) => event.name),
		data: events.map((event) => JSON.stringify(event.data)),
	};
}
