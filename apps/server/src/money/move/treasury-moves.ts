import { randomUUID } from "node:crypto";
import type { Amount, Milliseconds } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import { namedParameters } from "../../database/named-parameters.ts";
import type { Named, Row } from "../../database/rows.ts";

/** A move of a treasurer's key, as its row has it. Addresses are in lower case. */
export type TreasuryMove = {
	id: string;
	state: MoveState;
	chainId: number;
	/** The vault that it leaves. */
	holder: Hex;
	token: Hex;
	amount: Amount;
	moveId: Hex;
	createdAtMs: Milliseconds;
	dueAtMs: Milliseconds | undefined;
	transactionHash: Hex | undefined;
	movedBlock: number | undefined;
} & MoveTerms;

/** The part of a move that depends on its kind. */
type MoveTerms =
	| { kind: "trade"; toToken: Hex; minReceived: Amount; data: { poolFees: number[] } }
	| { kind: "send"; address: Hex }
	| BridgeTerms;

/** A move to the vault of another chain. `address` is the route, which is the contract that burns. */
export type BridgeTerms = {
	kind: "bridge";
	address: Hex;
	toChainId: number;
	toToken: Hex;
	minReceived: Amount;
	/** The newest block of the other chain when the move was queued. */
	destinationBlock: number;
	data: { maxFee: string; minFinalityThreshold: number };
	attested: { message: Hex; attestation: Hex } | undefined;
	reattestedAtMs: Milliseconds | undefined;
	arrived: { block: number; transactionHash: Hex; received: Amount } | undefined;
};

export type MoveState = Row<"treasury_moves", "state">["state"];

/** The states that nothing follows. */
const overStates: readonly MoveState[] = ["final", "failed", "cancelled", "lost"];

/** SQL: true for a row in one of the states that nothing follows. */
export const isMoveOver = `state in (${overStates.map((state) => `'${state}'`).join(", ")})`;

/** Returns whether nothing follows a state. */
export function isOverState(state: MoveState): boolean {
	return overStates.includes(state);
}

/** In these states the amount is still in the vault, and is reserved. */
const reservingStates = "'queued', 'sent'";

const moveColumns =
	"id, state, kind, chain_id, holder, token, amount, address, to_chain_id, to_token, min_received, move_id, data, created_at, due_at, transaction_hash, moved_block, destination_block, message, attestation, reattested_at, received, arrived_block, arrived_transaction";

type MoveRow = Row<"treasury_moves", Named<typeof moveColumns>>;

/** Returns the moves for which a condition on their rows is true, oldest first. */
export async function readMoves(
	db: Database,
	condition: string,
	values: readonly unknown[] = [],
): Promise<TreasuryMove[]> {
	const { rows } = await db.query<MoveRow>(
		`select ${moveColumns} from treasury_moves where move_id is not null and ${condition} order by created_at, id`,
		[...values],
	);
	return rows.map(moveOfRow);
}

function moveOfRow(row: MoveRow): TreasuryMove {
	const common = {
		id: row.id,
		state: row.state,
		chainId: row.chain_id,
		holder: bytesToHex(row.holder),
		token: bytesToHex(row.token),
		amount: row.amount,
		moveId: bytesToHex(expected(row.move_id)),
		createdAtMs: row.created_at.getTime(),
		dueAtMs: row.due_at?.getTime(),
		transactionHash: row.transaction_hash ? bytesToHex(row.transaction_hash) : undefined,
		movedBlock: row.moved_block ?? undefined,
	};
	if (row.kind === "send") return { ...common, kind: "send", address: bytesToHex(expected(row.address)) };
	const bought = { toToken: bytesToHex(expected(row.to_token)), minReceived: expected(row.min_received) };
	if (row.kind === "trade") {
		return { ...common, kind: "trade", ...bought, data: row.data as { poolFees: number[] } };
	}
	const { message, attestation, reattested_at, received, arrived_block: block, arrived_transaction } = row;
	return {
		...common,
		kind: "bridge",
		...bought,
		address: bytesToHex(expected(row.address)),
		toChainId: expected(row.to_chain_id),
		destinationBlock: expected(row.destination_block),
		data: row.data as BridgeTerms["data"],
		attested:
			message && attestation
				? { message: bytesToHex(message), attestation: bytesToHex(attestation) }
				: undefined,
		reattestedAtMs: reattested_at?.getTime(),
		arrived:
			block !== null && arrived_transaction && received !== null
				? { block, transactionHash: bytesToHex(arrived_transaction), received }
				: undefined,
	};
}

function expected<Value>(value: Value | null): Value {
	if (value === null) throw new TypeError("a move's row lacks a column of its kind");
	return value;
}

/** A planned move, as it is queued. */
export type NewMove = {
	kind: TreasuryMove["kind"];
	chainId: number;
	holder: Hex;
	token: Hex;
	amount: Amount;
	/** The recipient of a send, or the route of a bridge. */
	address?: Hex;
	toChainId?: number;
	toToken?: Hex;
	minReceived?: Amount;
	moveId: Hex;
	nth: number;
	data: object;
	reason: string;
	dueAtMs: Milliseconds;
};

/**
 * Reserves the amount of a move and adds its row. Returns its id; undefined if the vault has too little that is free, if
 * a move of the same key is open, or if the treasury is paused.
 */
export async function queueMove(pool: DatabasePool, move: NewMove): Promise<string | undefined> {
	const id = randomUUID();
	const { chainId, token, amount, toChainId, address, toToken, minReceived } = move;
	return inTransaction(pool, async (db) => {
		const { rowCount: isReserved } = await db.query(
			`update inventory set reserved = reserved + $3 where chain_id = $1 and token = $2 and balance - reserved >= $3
				and not exists (select from treasury_pauses where resumed_at is null)`,
			[chainId, hexToBytes(token), amount],
		);
		if (!isReserved) return undefined;
		const { rowCount: isQueued } = await db.query(
			namedParameters(
				`insert into treasury_moves (id, kind, chain_id, holder, token, amount, address, to_chain_id, to_token,
					min_received, move_id, nth, data, reason, made_by, state, due_at, destination_block)
				values ($id, $kind, $chainId, $holder, $token, $amount, $address, $toChainId, $toToken, $minReceived, $moveId,
					$nth, $data, $reason, 'geoswapd worker', 'queued', to_timestamp($dueAt::double precision),
					(select number from chain_heads where chain_id = $toChainId))
				on conflict do nothing`,
				{
					id,
					kind: move.kind,
					chainId,
					holder: hexToBytes(move.holder),
					token: hexToBytes(token),
					amount,
					address: address ? hexToBytes(address) : null,
					toChainId: toChainId ?? null,
					toToken: toToken ? hexToBytes(toToken) : null,
					minReceived: minReceived ?? null,
					moveId: hexToBytes(move.moveId),
					nth: move.nth,
					data: JSON.stringify(move.data),
					reason: move.reason,
					dueAt: move.dueAtMs / 1_000,
				},
			),
		);
		if (isQueued) return id;
		await db.query("update inventory set reserved = reserved - $3 where chain_id = $1 and token = $2", [
			chainId,
			hexToBytes(token),
			amount,
		]);
		return undefined;
	});
}

/** Columns that a change of state may set. */
export type MoveChange = Partial<{
	transaction_hash: Uint8Array;
	moved_block: number | null;
	message: Uint8Array | null;
	attestation: Uint8Array | null;
	nonce: Uint8Array | null;
	reattested_at: Date | null;
	received: Amount | null;
	arrived_block: number | null;
	arrived_transaction: Uint8Array | null;
	look_at: Date | null;
	problem: string | null;
	due_at: Date;
}>;

/**
 * Moves a row from one state to another, or changes it within one, and keeps what is reserved of the inventory in step.
 * Does nothing and returns false if the row is no longer in the first state.
 */
export async function changeMove(
	db: Database,
	{ id, from, to, set = {} }: { id: string; from: MoveState; to: MoveState; set?: MoveChange },
): Promise<boolean> {
	const { rows } = await db.query(
		`with changed as (
			update treasury_moves m set state = $3, updated_at = now(), (${changeable}) = (
				select ${changeable} from jsonb_populate_record(m, $4)
			)
			where id = $1 and state = $2 and move_id is not null returning chain_id, token, amount
		), reserved as (
			update inventory i set reserved = i.reserved
				+ changed.amount * (($3 in (${reservingStates}))::integer - ($2 in (${reservingStates}))::integer)
			from changed where (i.chain_id, i.token) = (changed.chain_id, changed.token)
				and ($3 in (${reservingStates})) <> ($2 in (${reservingStates}))
		)
		select from changed`,
		[id, from, to, JSON.stringify(set, toColumn)],
	);
	return rows.length > 0;
}

/** The columns of a change. Those that it does not name keep their values. */
const changeable =
	"transaction_hash, moved_block, message, attestation, nonce, reattested_at, received, arrived_block, arrived_transaction, look_at, problem, due_at";

/** Returns a value in JSON as PostgreSQL reads it into its column. */
function toColumn(_: string, value: unknown): unknown {
	if (typeof value === "bigint") return String(value);
	return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : value;
}
