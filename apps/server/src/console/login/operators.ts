import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

export type Operator = { id: string; name: string };

export type ListedOperator = Operator & {
	createdAt: Date;
	passkeys: number;
	/** Null if no passkey was ever used. */
	lastUsedAt: Date | null;
	/** Whether the operator has an unused link that is still valid. */
	isInvited: boolean;
};

/** Returns the operator with this name, and adds one if there is none. */
export async function ensureOperator(db: Database, { id, name }: Operator): Promise<Operator> {
	await db.query("insert into console_operators (id, name) values ($1, $2) on conflict (name) do nothing", [
		id,
		name,
	]);
	const { rows } = await db.query<Operator>("select id, name from console_operators where name = $1", [name]);
	return rows[0] ?? { id, name };
}

/** Adds a one-time link. Earlier links of the operator become invalid, since only the newest one counts. */
export async function insertInvite(
	db: Database,
	{
		operatorId,
		tokenHash,
		expiresAtMs,
	}: { operatorId: string; tokenHash: Buffer; expiresAtMs: Milliseconds },
): Promise<void> {
	await db.query("delete from console_invites where operator_id = $1", [operatorId]);
	await db.query(
		`insert into console_invites (token_hash, operator_id, expires_at)
		values ($1, $2, to_timestamp($3::double precision / 1000))`,
		[tokenHash, operatorId, expiresAtMs],
	);
}

/** Returns the operator that a link is for, or undefined if the link is unknown, used or too old. */
export async function findInvite(
	db: Database,
	{ tokenHash, nowMs }: { tokenHash: Buffer; nowMs: Milliseconds },
): Promise<Operator | undefined> {
	const { rows } = await db.query<Operator>(
		`select o.id, o.name from console_invites i join console_operators o on o.id = i.operator_id
		where i.token_hash = $1 and i.used_at is null and i.expires_at > to_timestamp($2::double precision / 1000)`,
		[tokenHash, nowMs],
	);
	return rows[0];
}

/** Uses a link up. Returns false if it was used meanwhile, or is too old. */
export async function useInvite(
	db: Database,
	{ tokenHash, nowMs }: { tokenHash: Buffer; nowMs: Milliseconds },
): Promise<boolean> {
	const { rowCount } = await db.query(
		`update console_invites set used_at = to_timestamp($2::double precision / 1000)
		where token_hash = $1 and used_at is null and expires_at > to_timestamp($2::double precision / 1000)`,
		[tokenHash, nowMs],
	);
	return rowCount === 1;
}

export async function listOperators(
	db: Database,
	{ nowMs }: { nowMs: Milliseconds },
): Promise<ListedOperator[]> {
	const { rows } = await db.query<ListedOperator>(
		`select o.id, o.name, o.created_at as "createdAt",
			(select count(*) from console_passkeys p where p.operator_id = o.id) as passkeys,
			(select max(p.last_used_at) from console_passkeys p where p.operator_id = o.id) as "lastUsedAt",
			exists (
				select from console_invites i where i.operator_id = o.id and i.used_at is null
					and i.expires_at > to_timestamp($1::double precision / 1000)
			) as "isInvited"
		from console_operators o order by o.name`,
		[nowMs],
	);
	return rows;
}

/** Removes an operator with passkeys, links and sessions. Returns false if none has that name. */
export async function removeOperator(db: Database, name: string): Promise<boolean> {
	const { rowCount } = await db.query("delete from console_operators where name = $1", [name]);
	return rowCount === 1;
}
