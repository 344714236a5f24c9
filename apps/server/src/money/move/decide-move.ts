import { bytesToHex } from "viem";
import { type Database, type DatabasePool, inTransaction } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";
import { lockHead } from "../../swap/due/chain-head.ts";
import { post } from "../ledger/post.ts";
import { changeMove, type MoveChange, type MoveState } from "./treasury-moves.ts";

/** A person's decision about a declaration or a move, which is recorded in its row. */
type MoveDecision = { id: string; by: string; reason: string };

/** The state afterwards, and if nothing was done, why. */
export type DecidedMove = { state: MoveState; refusal?: string };

const decidedColumns = "kind, state, chain_id, token, amount, move_id, moved_block";
type DecidedRow = Row<"treasury_moves", Named<typeof decidedColumns>>;

/**
 * Cancels a declaration that has not been booked, or a move that no lane has signed, whose reservation it gives back.
 * Returns undefined if there is none with this id.
 */
export function cancelMove(pool: DatabasePool, decision: MoveDecision): Promise<DecidedMove | undefined> {
	return inTransaction(pool, async (db) => {
		const row = await lockMove(db, decision.id);
		if (row?.state !== "queued") return row && refuse(row, "only what is queued can be cancelled");
		if (row.move_id) await changeMove(db, { id: decision.id, from: "queued", to: "cancelled" });
		else {
			await db.query("update treasury_moves set state = 'cancelled', updated_at = now() where id = $1", [
				decision.id,
			]);
		}
		await record(db, decision, ["cancelledBy", "cancelReason"]);
		return { state: "cancelled" };
	});
}

/**
 * Has a stuck bridge looked at from its burn on, without the attestation that it had. Returns undefined if there is no
 * row with this id.
 */
export function retryMove(
	pool: DatabasePool,
	{ dueAt, ...decision }: MoveDecision & { dueAt: Date },
): Promise<DecidedMove | undefined> {
	return inTransaction(pool, async (db) => {
		const row = await lockMove(db, decision.id);
		if (!row || !isStuckBridge(row)) return row && refuse(row, "only a stuck bridge can be retried");
		const set: MoveChange = {
			due_at: dueAt,
			look_at: null,
			problem: null,
			message: null,
			attestation: null,
			nonce: null,
			reattested_at: null,
			received: null,
			arrived_block: null,
			arrived_transaction: null,
		};
		await changeMove(db, { id: decision.id, from: "stuck", to: "moved", set });
		await record(db, decision, ["retriedBy", "retryReason"]);
		return { state: "moved" };
	});
}

/**
 * Books the amount of a stuck bridge as lost on the chain that it left. Its burn must be booked, or the books would have
 * a loss of what never left. Returns undefined if there is no row with this id.
 */
export function writeOffMove(pool: DatabasePool, decision: MoveDecision): Promise<DecidedMove | undefined> {
	return inTransaction(pool, async (db) => {
		const found = await readMove(db, decision.id);
		// A day is closed under this lock, so no posting can be added below the last one of a day.
		const head = found && (await lockHead(db, found.chain_id));
		const row = await lockMove(db, decision.id);
		if (!row || !isStuckBridge(row)) return row && refuse(row, "only a stuck bridge can be written off");
		const { chain_id: chainId, moved_block: blockNumber, move_id } = row;
		if (!move_id || blockNumber === null || !head || blockNumber > head.bookedNumber) {
			return refuse(row, "its burn is not booked yet, so wait until its block is final");
		}
		const token = bytesToHex(row.token);
		const key = `${chainId}:loss:${bytesToHex(move_id)}`;
		await post(db, [
			{
				key,
				chainId,
				blockNumber,
				name: "loss",
				orderId: undefined,
				entries: [
					{ account: "loss", token, amount: row.amount },
					{ account: "bridge", token, amount: -row.amount },
				],
			},
		]);
		await changeMove(db, { id: decision.id, from: "stuck", to: "lost" });
		await db.query("update treasury_moves set posting_key = $2 where id = $1", [decision.id, key]);
		await record(db, decision, ["writtenOffBy", "writeOffReason"]);
		return { state: "lost" };
	});
}

async function readMove(db: Database, id: string): Promise<DecidedRow | undefined> {
	const { rows } = await db.query<DecidedRow>(`select ${decidedColumns} from treasury_moves where id = $1`, [
		id,
	]);
	return rows[0];
}

async function lockMove(db: Database, id: string): Promise<DecidedRow | undefined> {
	const { rows } = await db.query<DecidedRow>(
		`select ${decidedColumns} from treasury_moves where id = $1 for update`,
		[id],
	);
	return rows[0];
}

function isStuckBridge({ kind, state }: DecidedRow): boolean {
	return kind === "bridge" && state === "stuck";
}

function refuse({ state }: DecidedRow, refusal: string): DecidedMove {
	return { state, refusal };
}

async function record(
	db: Database,
	{ id, by, reason }: MoveDecision,
	[who, why]: readonly [string, string],
): Promise<void> {
	await db.query(
		"update treasury_moves set data = data || jsonb_build_object($2::text, $3::text, $4::text, $5::text) where id = $1",
		[id, who, by, why, reason],
	);
}
