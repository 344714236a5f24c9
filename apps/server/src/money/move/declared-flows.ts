import { randomUUID } from "node:crypto";
import type { Amount } from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import type { Database } from "../../database/database.ts";
import type { Named, Row } from "../../database/rows.ts";

/** What an operator declares before it happens on the chain. */
export type Declaration = {
	kind: "deposit" | "withdrawal";
	chainId: number;
	token: Hex;
	amount: Amount;
	/** The vault or the relayer that it enters or leaves. */
	holder: Hex;
	/** The recipient of a withdrawal. */
	to?: Hex | undefined;
	by: string;
	reason: string;
};

/** Writes a declaration and returns its id. */
export async function declareFlow(
	db: Database,
	{ kind, chainId, token, amount, holder, to, by, reason }: Declaration,
): Promise<string> {
	const id = randomUUID();
	await db.query(
		`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, reason, made_by, state)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued')`,
		[
			id,
			kind,
			chainId,
			hexToBytes(token),
			amount,
			hexToBytes(holder),
			to ? hexToBytes(to) : null,
			reason,
			by,
		],
	);
	return id;
}

/**
 * Cancels a declaration that has not been booked. Returns its state afterwards, or undefined if there is none with this
 * id. Moves of the treasurer's key are not cancelled here, because one may be on its way.
 */
export async function cancelDeclaration(
	db: Database,
	{ id, by, reason }: { id: string; by: string; reason: string },
): Promise<string | undefined> {
	const { rows } = await db.query<Row<"treasury_moves", "state">>(
		`update treasury_moves set updated_at = case when state = 'queued' then now() else updated_at end,
			data = case when state = 'queued' then data || jsonb_build_object('cancelledBy', $2::text, 'cancelReason', $3::text)
				else data end,
			state = case when state = 'queued' then 'cancelled' else state end
		where id = $1 and kind in ('deposit', 'withdrawal') returning state`,
		[id, by, reason],
	);
	return rows[0]?.state;
}

export type Flow = {
	id: string;
	kind: Row<"treasury_moves", "kind">["kind"];
	chainId: number;
	token: Hex;
	amount: Amount;
	holder: Hex;
	to: Hex | undefined;
	toChainId: number | undefined;
	toToken: Hex | undefined;
	received: Amount | undefined;
	moveId: Hex | undefined;
	transaction: Hex | undefined;
	state: Row<"treasury_moves", "state">["state"];
	reason: string;
	by: string;
	createdAt: Date;
	updatedAt: Date;
};

const flowColumns =
	"id, kind, chain_id, token, amount, holder, address, to_chain_id, to_token, received, move_id, transaction_hash, state, reason, made_by, created_at, updated_at";

/** Returns flows, newest first: those that are not over, and the most recent others. */
export async function readFlows(
	db: Database,
	{ limit, id }: { limit: number; id?: string | undefined },
): Promise<Flow[]> {
	const { rows } = await db.query<Row<"treasury_moves", Named<typeof flowColumns>>>(
		`select ${flowColumns} from treasury_moves where $2::uuid is null or id = $2
		order by state in ('final', 'failed', 'cancelled', 'lost'), created_at desc limit $1`,
		[limit, id ?? null],
	);
	return rows.map((row) => ({
		id: row.id,
		kind: row.kind,
		chainId: row.chain_id,
		token: bytesToHex(row.token),
		amount: row.amount,
		holder: bytesToHex(row.holder),
		to: hexOf(row.address),
		toChainId: row.to_chain_id ?? undefined,
		toToken: hexOf(row.to_token),
		received: row.received ?? undefined,
		moveId: hexOf(row.move_id),
		transaction: hexOf(row.transaction_hash),
		state: row.state,
		reason: row.reason,
		by: row.made_by,
		createdAt: row.created_at,
		updatedAt: row.updated_at,
	}));
}

function hexOf(bytes: Buffer | null): Hex | undefined {
	return bytes ? bytesToHex(bytes) : undefined;
}
