import type { Amount, Milliseconds, Wei } from "@geoswap/protocol";
import { bytesToHex, type Hex } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../database/database.ts";
import type { Named, Row } from "../database/rows.ts";
import { isMoveOver } from "../money/move/treasury-moves.ts";
import { readPauses } from "../swap/pause/pauses.ts";
import type { DemandMinute } from "./need.ts";

/** What the database has of the inventory, as of one moment. Addresses are in lower case. */
export type TreasuryRows = {
	/**
	 * A delivery stays reserved until its block is final, and its amount has left the balance by then. It is not counted as
	 * reserved here.
	 */
	inventory: { chainId: number; token: Hex; balance: Amount; reserved: Amount }[];
	demand: (DemandMinute & { chainId: number; token: Hex })[];
	/** Flows and moves that are not over. */
	moves: OpenMove[];
	/** All moves of the treasurer's key that were made or are open, by what they are from and to. */
	history: MoveHistory[];
	pausedChainIds: number[];
	/** Chains whose follower has looked at them recently, with the time of the last block that it read, in seconds. */
	followed: { chainId: number; timestamp: number }[];
	/** Chains with a move that is in no row, as after a restore, or after a theft of the treasurer's key. */
	unknownMoveChainIds: number[];
	/** What each relayer spent on gas in each hour in which it spent anything, and the hours since the first of these. */
	spending: { chainId: number; relayer: Hex; hours: number; spent: Wei[] }[];
};

type OpenMove = {
	kind: Row<"treasury_moves", "kind">["kind"];
	state: Row<"treasury_moves", "state">["state"];
	chainId: number;
	token: Hex;
	amount: Amount;
	holder: Hex;
	toChainId: number | null;
	minReceived: Amount | null;
	isLate: boolean;
};

export type MoveHistory = {
	kind: OpenMove["kind"];
	chainId: number;
	token: Hex;
	toChainId: number | null;
	/** Null for a bridge, whose rows name its route. */
	address: Hex | null;
	moves: number;
	isOpen: boolean;
};

const hourMs = 3_600_000;
/** Days whose spending on gas counts. */
const spendingDays = 3;
/** A follower that has not looked at its chain for so long is too late for a plan. */
const followedWithinMs = 120_000;
/** A declared deposit that has not come after so long no longer counts as arriving. */
const depositWithinMs = 24 * hourMs;

/** Reads everything of one moment. Demand is read for the last hours only. */
export function readTreasuryRows(
	pool: DatabasePool,
	{ demandHours, nowMs }: { demandHours: number; nowMs: Milliseconds },
): Promise<TreasuryRows> {
	return inTransaction(pool, (db) => readRows(db, { demandHours, nowMs }), {
		first: "set transaction isolation level repeatable read, read only",
	});
}

async function readRows(
	db: Database,
	{ demandHours, nowMs }: { demandHours: number; nowMs: Milliseconds },
): Promise<TreasuryRows> {
	const { rows: inventory } = await db.query<
		Row<"inventory", "chain_id" | "token" | "balance"> & { reserved: string }
	>(
		`select chain_id, token, balance, (reserved - coalesce((
			select sum(r.amount) from reservations r
			join swaps s on s.id = r.swap_id
			join chain_events e on e.order_id = s.order_id and e.chain_id = r.chain_id and e.name = 'Filled'
			where (r.chain_id, r.token) = (i.chain_id, i.token) and e.block_number <= i.block_number
		), 0))::text as reserved from inventory i`,
	);
	const { rows: demand } = await db.query<Row<"demand", Named<"chain_id, token, minute, outflow, inflow">>>(
		"select chain_id, token, minute, outflow, inflow from demand where minute >= to_timestamp($1)",
		[(nowMs - demandHours * hourMs) / 1_000],
	);
	const { rows: moves } = await db.query<
		Row<
			"treasury_moves",
			Named<"kind, state, chain_id, token, amount, holder, to_chain_id, min_received">
		> & {
			is_late: boolean;
		}
	>(
		`select kind, state, chain_id, token, amount, holder, to_chain_id, min_received,
			state = 'stuck' or coalesce(due_at < to_timestamp($1), false)
				or kind = 'deposit' and created_at < to_timestamp($2) as is_late
		from treasury_moves where not ${isMoveOver}`,
		[nowMs / 1_000, (nowMs - depositWithinMs) / 1_000],
	);
	const { rows: history } = await db.query<
		Row<"treasury_moves", Named<"kind, chain_id, token, to_chain_id, address">> & {
			moves: number;
			is_open: boolean;
		}
	>(
		`select kind, chain_id, token, to_chain_id, case kind when 'send' then address when 'trade' then holder end as address,
			count(*) filter (where state not in ('failed', 'cancelled')) as moves, bool_or(not ${isMoveOver}) as is_open
		from treasury_moves where move_id is not null group by 1, 2, 3, 4, 5`,
	);
	const { rows: heads } = await db.query<Row<"chain_heads", "chain_id" | "timestamp">>(
		"select chain_id, timestamp from chain_heads where updated_at > now() - $1::float8 * interval '1 millisecond'",
		[followedWithinMs],
	);
	const { rows: unknown } = await db.query<Row<"chain_events", "chain_id">>(
		`select distinct chain_id from chain_events e where name in ('Traded', 'Sent', 'Bridged') and not exists (
			select from treasury_moves m where m.chain_id = e.chain_id and '0x' || encode(m.move_id, 'hex') = e.data->>'moveId'
		)`,
	);
	const { rows: spending } = await db.query<{
		chain_id: number;
		relayer: Buffer;
		hours: number;
		spent: string[];
	}>(
		`select chain_id, relayer, array_agg(spent::text) as spent,
			ceil(extract(epoch from to_timestamp($1) - min(hour)) / 3600)::integer as hours
		from (
			select chain_id, relayer, date_trunc('hour', created_at) as hour, sum(gas_cost) as spent
			from lane_transactions
			where created_at > to_timestamp($1) - make_interval(days => $2) and created_at <= to_timestamp($1)
				and gas_cost > 0
			group by 1, 2, 3
		) by_hour group by chain_id, relayer`,
		[nowMs / 1_000, spendingDays],
	);
	const paused = await readPauses(db);
	return {
		inventory: inventory.map(({ chain_id, token, balance, reserved }) => ({
			chainId: chain_id,
			token: bytesToHex(token),
			balance,
			reserved: BigInt(reserved),
		})),
		demand: demand.map(({ chain_id, token, minute, outflow, inflow }) => ({
			chainId: chain_id,
			token: bytesToHex(token),
			minute: Math.floor(minute.getTime() / 60_000),
			outflow,
			inflow,
		})),
		moves: moves.map((row) => ({
			kind: row.kind,
			state: row.state,
			chainId: row.chain_id,
			token: bytesToHex(row.token),
			amount: row.amount,
			holder: bytesToHex(row.holder),
			toChainId: row.to_chain_id,
			minReceived: row.min_received,
			isLate: row.is_late,
		})),
		history: history.map((row) => ({
			kind: row.kind,
			chainId: row.chain_id,
			token: bytesToHex(row.token),
			toChainId: row.to_chain_id,
			address: row.address && bytesToHex(row.address),
			moves: row.moves,
			isOpen: row.is_open,
		})),
		pausedChainIds: paused.map(({ chainId }) => chainId),
		followed: heads.map(({ chain_id, timestamp }) => ({ chainId: chain_id, timestamp })),
		unknownMoveChainIds: unknown.map(({ chain_id }) => chain_id),
		spending: spending.map(({ chain_id, relayer, hours, spent }) => ({
			chainId: chain_id,
			relayer: bytesToHex(relayer),
			hours,
			spent: spent.map(BigInt),
		})),
	};
}
