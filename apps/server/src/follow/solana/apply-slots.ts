import { type Amount, greater } from "@geoswap/protocol";
import { type Hash, type Hex, hexToBytes, zeroHash } from "viem";
import type { SlotHoldings } from "../../chain/solana/read/read-holdings.ts";
import type { Database } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Row } from "../../database/rows.ts";
import { countFailures } from "../../job/count-failures.ts";
import { settleNonces } from "../../job/journal/lane-transactions.ts";
import { saveRents } from "../../job/journal/rents.ts";
import { finishJobs, undoJobs } from "../../job/queue-jobs.ts";
import { markDepositsFinal } from "../../money/exposure.ts";
import { saveInventory } from "../../money/inventory/inventory-balance.ts";
import { bookFinal } from "../../money/ledger/book-final.ts";
import {
	bookUnattributed,
	type Holdings,
	takeOffUnattributed,
} from "../../money/ledger/book-unattributed.ts";
import { type Posting, readOpeningNumber } from "../../money/ledger/post.ts";
import { closeDay, isDayDue } from "../../money/profit/close-day.ts";
import { type FollowedHead, lockHead, slotHash } from "../../swap/due/chain-head.ts";
import { markOrders } from "../../swap/due/mark-swaps.ts";
import { deleteUnreadBlocksAbove } from "../../swap/due/unread-blocks.ts";
import { takeUpUnknownOrders } from "../../swap/record/unknown-orders.ts";

/** An effect of a transaction, with the name and the data that such an event has on an EVM chain. */
export type SlotEvent = { name: string; data: object; orderId: Hex | undefined; contract: Hex };

type Slot = { slot: number; height: number; timestamp: number };

export type AppliedSlots = {
	chainId: number;
	/** The head's hash when the chain was read. */
	after: Hash;
	confirmed: Slot;
	/** Absent if the chain did not report everything that is final. */
	finalized?: Slot;
	/** Our lanes' transactions that have landed since, each with its events. */
	landed: readonly { hash: Hex; slot: number; fee: bigint; events: readonly SlotEvent[] }[];
	/** Transactions that were on the chain in these slots, and no longer are. */
	vanished: readonly { hash: Hex; slot: number }[];
	/** Orders with a transaction that can no longer land. */
	dueOrderIds: readonly Hex[];
	/** Holdings at a slot up to which all our transactions are known. */
	holdings?: SlotHoldings;
	/** The vault's current balances, and what the program lets leave it now. */
	inventory: readonly { token: Hex; decimals: number; balance: bigint; payable: Amount }[];
	vault: Hex;
};

/** Solana's base fee: the fee of one signature, which does not change. */
export const lamportsPerSignature = 5_000n;

/**
 * Applies what the chain reported since the head, all of it or nothing. Marks the swaps that something happened to.
 * Returns whether jobs were requeued, and the final events that the ledger could not book.
 */
export async function applySlots(
	db: Database,
	applied: AppliedSlots,
): Promise<{ hasRequeued: boolean; hash: Hash; unbooked: string[] }> {
	const { chainId, confirmed, landed, finalized } = applied;
	const head = await lockHead(db, chainId);
	// Another follower was faster, or took this one's place.
	if (head?.hash !== applied.after) throw new Error(`slot ${confirmed.slot} does not follow the head`);

	const undone = await undoVanished(db, applied);
	const events = landed.flatMap((transaction) => transaction.events);
	await insertEvents(db, applied);
	const filled = events.flatMap(({ name, orderId }) => (name === "Filled" && orderId ? [orderId] : []));
	if (filled.length > 0) await takeUpUnknownOrders(db, filled);
	await finishJobs(db, { chainId, events });
	await markLanded(db, applied);
	// No confirmed transaction is known to have been dropped so far, so jobs count their failure without further
	// confirmations.
	const failed = landed.some((transaction) => transaction.events.length === 0)
		? await countFailures(db, { chainId, headNumber: Number.MAX_SAFE_INTEGER })
		: [];

	const number = Math.max(confirmed.slot, head.number);
	const hash = slotHash(number, head.hash);
	const finalizedNumber = Math.max(finalized?.slot ?? 0, head.finalizedNumber);
	const bookedNumber = await bookedBefore(db, { chainId, head, landed });
	// The holdings of a node that is behind the books are not compared.
	const { holdings } = applied;
	const compared = holdings && holdings.slot >= head.bookedNumber ? holdings : undefined;
	const bookUpTo = compared?.slot ?? head.bookedNumber;
	await db.query(
		namedParameters(
			`update chain_heads set number = $number, hash = $hash, timestamp = greatest(timestamp, $timestamp),
				base_fee = $baseFee, finalized_number = $finalizedNumber,
				finalized_timestamp = greatest(finalized_timestamp, $finalizedTimestamp),
				finalized_height = greatest(finalized_height, $finalizedHeight), booked_number = $bookedNumber,
				updated_at = now()
			where chain_id = $chainId`,
			{
				chainId,
				number,
				hash: hexToBytes(hash),
				timestamp: confirmed.timestamp,
				baseFee: lamportsPerSignature,
				finalizedNumber,
				finalizedTimestamp: finalized?.timestamp ?? 0,
				finalizedHeight: finalized?.height ?? 0,
				bookedNumber: finalized ? Math.max(bookedNumber, bookUpTo) : bookedNumber,
			},
		),
	);
	// All transactions of the service up to the final slot are known again.
	if (finalized) await deleteUnreadBlocksAbove(db, { chainId, number: -1 });
	const unbooked = finalized
		? await book(db, {
				applied,
				bookedBefore: head.bookedNumber,
				after: bookedNumber,
				upTo: bookUpTo,
				compared,
				headHash: hash,
			})
		: [];

	const orderIds = [
		...new Set([
			...events.flatMap((event) => event.orderId ?? []),
			...failed,
			...undone,
			...applied.dueOrderIds,
		]),
	];
	await markOrders(db, orderIds);
	// Written last, because every submit to a token of this chain waits for these rows.
	await saveInventory(db, {
		chainId,
		blockNumber: number,
		inventory: applied.inventory.map(({ token, balance, payable }) => ({
			token,
			balance,
			outflowAvailable: greater(payable, 0n),
		})),
	});
	// A deposit may be found only after its slot was final.
	const after = Math.min(head.finalizedNumber, ...landed.map(({ slot }) => slot - 1));
	await markDepositsFinal(db, { chainId, after, upTo: finalizedNumber });
	return { hasRequeued: failed.length + undone.length > 0, hash, unbooked };
}

/** Deletes the events of dropped transactions. Their lanes go on sending the bytes, which may land again. */
async function undoVanished(db: Database, { chainId, vanished }: AppliedSlots): Promise<Hex[]> {
	if (vanished.length === 0) return [];
	const columns = [
		chainId,
		vanished.map(({ hash }) => hexToBytes(hash)),
		vanished.map(({ slot }) => slot),
	] as const;
	const isListed = "in (select * from unnest($2::bytea[], $3::bigint[]))";
	await db.query(
		`update lane_transactions set state = 'broadcast', block_number = null, gas_cost = null
		where chain_id = $1 and state = 'mined' and (hash, block_number) ${isListed}`,
		[...columns],
	);
	const { rows } = await db.query<Row<"chain_events", "order_id" | "name">>(
		`delete from chain_events where chain_id = $1 and (transaction_hash, block_number) ${isListed}
			and block_number = any($3)
		returning order_id, name`,
		[...columns],
	);
	return undoJobs(db, { chainId, lost: rows });
}

async function insertEvents(db: Database, { chainId, landed }: AppliedSlots): Promise<void> {
	const rows = landed.flatMap(({ hash, slot, events }) => events.map((event) => ({ ...event, hash, slot })));
	if (rows.length === 0) return;
	// Solana has no index of events, so the index is the order in which they were read. The block's hash is not read.
	await db.query(
		namedParameters(
			`insert into chain_events (chain_id, block_number, log_index, block_hash, transaction_hash, contract, order_id,
				name, data)
			select $chainId, slot,
				coalesce((select max(log_index) + 1 from chain_events where chain_id = $chainId and block_number = slot), 0)
					+ row_number() over (partition by slot order by seq) - 1,
				$blockHash, hash, contract, order_id, name, data
			from unnest($slots::bigint[], $transactionHashes::bytea[], $contracts::bytea[], $orderIds::bytea[],
				$names::text[], $data::jsonb[]) with ordinality as e (slot, hash, contract, order_id, name, data, seq)`,
			{
				chainId,
				blockHash: hexToBytes(zeroHash),
				slots: rows.map((row) => row.slot),
				transactionHashes: rows.map((row) => hexToBytes(row.hash)),
				contracts: rows.map((row) => hexToBytes(row.contract)),
				orderIds: rows.map((row) => (row.orderId ? hexToBytes(row.orderId) : null)),
				names: rows.map((row) => row.name),
				data: rows.map((row) => JSON.stringify(row.data)),
			},
		),
	);
}

/** Marks our transactions as mined. Their slot gets the time at which it was first read, seconds after its own. */
async function markLanded(db: Database, { chainId, landed, confirmed }: AppliedSlots): Promise<void> {
	if (landed.length === 0) return;
	await db.query(
		`insert into block_times (chain_id, number, timestamp) select distinct $1::bigint, slot, $3::bigint
		from unnest($2::bigint[]) as slot on conflict do nothing`,
		[chainId, landed.map(({ slot }) => slot), confirmed.timestamp],
	);
	await db.query(
		`update lane_transactions t set state = 'mined', block_number = l.slot, gas_cost = l.fee
		from unnest($2::bytea[], $3::bigint[], $4::numeric[]) as l (hash, slot, fee)
		where t.chain_id = $1 and t.hash = l.hash`,
		[
			chainId,
			landed.map(({ hash }) => hexToBytes(hash)),
			landed.map(({ slot }) => slot),
			landed.map(({ fee }) => fee),
		],
	);
}

function ofRelayers(posting: Posting): Posting {
	return { ...posting, entries: posting.entries.filter(({ account }) => account === "relayer") };
}

/** Returns the vault's and the fee payers' balances, as the ledger compares them. */
export function heldBy({ vault, lamports }: SlotHoldings): Holdings["held"] {
	return [
		...[...vault].map(([token, amount]) => ({ account: "inventory" as const, token, amount })),
		{ account: "relayer", token: zeroHash, amount: lamports },
	];
}

/** Books what became final, up to the slot of the holdings. */
async function book(
	db: Database,
	{
		applied: {
			chainId,
			vault,
			inventory,
			confirmed: { timestamp },
		},
		bookedBefore,
		after,
		upTo,
		compared,
		headHash,
	}: {
		applied: AppliedSlots;
		bookedBefore: number;
		after: number;
		upTo: number;
		compared: SlotHoldings | undefined;
		headHash: Hash;
	},
): Promise<string[]> {
	// No fee of a later slot may be in the books when the fee payers' balances are compared.
	const gas = await settleNonces(db, { chainId, finalizedNumber: upTo });
	const assets = inventory.map(({ token }) => token);
	const { unbooked, booked } = await bookFinal(db, { chainId, after, upTo, gas, vaults: [vault], assets });
	const late = booked.filter(({ blockNumber }) => blockNumber <= bookedBefore);
	// In the vault, the next comparison corrects itself.
	await takeOffUnattributed(db, { chainId, late: late.map(ofRelayers) });
	await saveRents(db, { chainId, after, upTo });
	if (compared) {
		const holdings = { blockNumber: compared.slot, held: heldBy(compared) };
		await bookUnattributed(db, { chainId, holdings, occasion: headHash });
		if (await isDayDue(db, { chainId, timestamp })) {
			const decimalsOf = (token: Hex) => inventory.find((one) => one.token === token)?.decimals;
			await closeDay(db, { chainId, timestamp, holdings, agreeing: [], decimalsOf });
		}
	}
	return unbooked;
}

/**
 * Returns the slot at which the books end. They go back to before a transaction that is found late, and stay there
 * until they are written again. No posting is written twice, and nothing is written that the opening balances contain.
 */
async function bookedBefore(
	db: Database,
	{ chainId, head, landed }: { chainId: number; head: FollowedHead } & Pick<AppliedSlots, "landed">,
): Promise<number> {
	const earliest = Math.min(...landed.map(({ slot }) => slot)) - 1;
	if (earliest >= head.bookedNumber) return head.bookedNumber;
	return Math.max(earliest, await readOpeningNumber(db, chainId));
}
