import type { Database } from "../../database/database.ts";
import { definedRow } from "../../database/defined-row.ts";

export type KeyChange = {
	at: Date;
	/** Who says that he made it. */
	actor: string;
	/** Whom the database knows to have made it. */
	databaseUser: string;
	accountId: string;
	/** Undefined where the account itself changed. */
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

/** Whoever changes accounts or keys in this transaction. */
export async function setActor(db: Database, actor: string): Promise<void> {
	await db.query("select set_config('geoswap.actor', $1, true)", [actor]);
}

/** The newest, in the order in which they were made. An account is found by any name that it had, a deleted one too. */
export async function listKeyChanges(db: Database, found: FoundKeyChanges): Promise<KeyChange[]> {
	const { rows } = await db.query<KeyChange>(keyChangesQuery(found));
	return rows.map(definedRow);
}

/** Not named: what is not asked for falls out of each plan, and what is has an index. */
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
