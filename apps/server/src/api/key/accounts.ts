import type { Milliseconds } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";

export type AccountRecord = {
	id: string;
	name: string;
	createdAt: Date;
	/** The number of keys that are neither revoked nor expired. */
	validKeys: number;
};

/** Returns true if the account was created; false if the name is taken. */
export async function insertAccount(
	db: Database,
	{ id, name }: { id: string; name: string },
): Promise<boolean> {
	const { rowCount } = await db.query(
		"insert into accounts (id, name) values ($1, $2) on conflict (name) do nothing",
		[id, name],
	);
	return rowCount === 1;
}

/** Returns the id of the account with this name, and creates the account if there is none. */
export async function ensureAccount(
	db: Database,
	{ id, name }: { id: string; name: string },
): Promise<string> {
	const known = await findAccountId(db, name);
	if (known !== undefined || (await insertAccount(db, { id, name }))) return known ?? id;
	// Another process created it first.
	return (await findAccountId(db, name)) ?? id;
}

export async function findAccountId(db: Database, name: string): Promise<string | undefined> {
	const { rows } = await db.query<{ id: string }>("select id from accounts where name = $1", [name]);
	return rows[0]?.id;
}

/** Returns all accounts, ordered by name. */
export async function listAccounts(
	db: Database,
	{ nowMs }: { nowMs: Milliseconds },
): Promise<AccountRecord[]> {
	const { rows } = await db.query<AccountRecord>(
		`select a.id, a.name, a.created_at as "createdAt", (
			select count(*) from api_keys k
			where k.account_id = a.id and k.revoked_at is null
				and (k.expires_at is null or k.expires_at > to_timestamp($1::double precision))
		) as "validKeys"
		from accounts a order by a.name`,
		[nowMs / 1_000],
	);
	return rows;
}
