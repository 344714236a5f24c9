import { type Database, definedRow } from "../../database/database.ts";

export type KeyChange = {
	at: Date;
	/** The operator who claims to have made the change. */
	actor: string;
	/** The database user that made the change. */
	databaseUser: string;
	accountId: string;
	/** Undefined if the account itself changed. */
	keyId: string | undefined;
	change: string;
	before: Record<string, unknown> | undefined;
	after: Record<string, unknown> | undefined;
};

export type FoundKeyChanges = {
	accountName?: string | undefined;
	keyId?: string | undefined;
	limit: number;
};

/** Sets who changes accounts or keys in this transaction. */
export async function setActor(db: Database, actor: string): Promise<void> {
	await db.query("select set_config('geoswap.actor', $1, true)", [actor]);
}

/**
 * Returns the newest changes, oldest first. An account is found by any name that it ever had, even if it was deleted.
 */
export async function listKeyChanges(db: Database, found: FoundKeyChanges): Promise<KeyChange[]> {
	const { rows } = await db.query<KeyChange>(keyChangesQuery(found));
	return rows.map(definedRow);
}

/** Returns an unnamed query, so that absent filters drop out of its plan. Each filter that is given has an index. */
export function keyChangesQuery({ accountName, keyId, limit }: FoundKeyChanges) {
	return {
		text: `select at, actor, database_user as "databaseUser", account_id as "accountId", key_id as "keyId", change, before, after
		from (
			select * from key_changes
			where ($1::text is null or key_id = $1 or (key_id <> after->>'id' and after->>'id' = $1))
				and ($2::text is null or account_id = any(array(
					select account_id from key_changes where key_id is null and after->>'name' = $2
				)))
			order by id desc limit $3
		) as newest order by id`,
		values: [keyId ?? null, accountName ?? null, limit],
	};
}
