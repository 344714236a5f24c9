import { type Database, definedRow } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";

/** A key's own limits, which replace the configured ones. */
export type StoredLimits = {
	/** Requests per second, by operation. */
	rates?: Record<string, number>;
	heldStatusCalls?: number;
	/** Null if the key has no limit, whatever is configured. */
	maxUsdPerDay?: number | null;
};

export type ApiKeyRecord = {
	id: string;
	accountId: string;
	accountName: string;
	accountCreatedAt: Date;
	hash: Uint8Array;
	limits: StoredLimits;
	createdAt: Date;
	expiresAt: Date | undefined;
	revokedAt: Date | undefined;
	/** The key that replaces it. */
	replacedBy: string | undefined;
	lastUsedAt: Date | undefined;
};

// Columns are listed by name, because a prepared `select *` fails once a later version has added a column.
const select = `select k.id, k.account_id as "accountId", a.name as "accountName", a.created_at as "accountCreatedAt",
	k.hash, k.limits, k.created_at as "createdAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
	k.replaced_by as "replacedBy", k.last_used_at as "lastUsedAt"
	from api_keys k join accounts a on a.id = k.account_id`;

/** Inserts several keys of one account, either all or none. */
export async function insertApiKeys(
	db: Database,
	{
		keys,
		accountId,
		limits = {},
		expiresAt,
	}: {
		keys: readonly { id: string; hash: Uint8Array }[];
		accountId: string;
		limits?: StoredLimits;
		expiresAt?: Date | undefined;
	},
): Promise<void> {
	await db.query(
		`insert into api_keys (id, account_id, hash, limits, expires_at)
		select id, $3, hash, $4, $5 from unnest($1::text[], $2::bytea[]) as made (id, hash)`,
		[keys.map(({ id }) => id), keys.map(({ hash }) => hash), accountId, limits, expiresAt ?? null],
	);
}

/** Returns the keys that exist. */
export async function findApiKeys(db: Database, ids: readonly string[]): Promise<ApiKeyRecord[]> {
	const { rows } = await db.query<ApiKeyRecord>({
		name: "find-api-keys",
		text: `${select} where k.id = any($1)`,
		values: [ids],
	});
	return rows.map(definedRow);
}

/** Locks the key, so that no other transaction changes it until this one ends. */
export async function lockApiKey(db: Database, id: string): Promise<ApiKeyRecord | undefined> {
	const { rows } = await db.query<ApiKeyRecord>(`${select} where k.id = $1 for no key update of k`, [id]);
	return rows[0] && definedRow(rows[0]);
}

/** Returns keys, newest first. */
export async function listApiKeys(
	db: Database,
	{ accountId }: { accountId?: string | undefined } = {},
): Promise<ApiKeyRecord[]> {
	const { rows } = await db.query<ApiKeyRecord>(
		`${select} where $1::uuid is null or k.account_id = $1 order by k.created_at desc, k.id`,
		[accountId ?? null],
	);
	return rows.map(definedRow);
}

/** Returns true if the key existed and was not revoked yet. */
export async function revokeApiKey(db: Database, id: string): Promise<boolean> {
	const { rowCount } = await db.query(
		"update api_keys set revoked_at = now() where id = $1 and revoked_at is null",
		[id],
	);
	return rowCount === 1;
}

export async function setApiKeyLimits(
	db: Database,
	{ id, limits }: { id: string; limits: StoredLimits },
): Promise<void> {
	await db.query("update api_keys set limits = $2 where id = $1", [id, limits]);
}

export async function setApiKeyExpiry(
	db: Database,
	{ id, expiresAt }: { id: string; expiresAt: Date | undefined },
): Promise<void> {
	await db.query("update api_keys set expires_at = $2 where id = $1", [id, expiresAt ?? null]);
}

/** Marks the key as replaced by another one. Returns its expiry, which is never moved later. */
export async function replaceApiKey(
	db: Database,
	{ id, replacedBy, expiresAt }: { id: string; replacedBy: string; expiresAt: Date },
): Promise<Date> {
	const { rows } = await db.query<Row<"api_keys", "expires_at">>(
		`update api_keys set replaced_by = $2, expires_at = least(expires_at, $3::timestamptz) where id = $1
		returning expires_at`,
		[id, replacedBy, expiresAt],
	);
	return rows[0]?.expires_at ?? expiresAt;
}

/** Stores when each key was last used, unless a later time is stored. */
export async function touchApiKeys(db: Database, usedAtMs: ReadonlyMap<string, number>): Promise<void> {
	// Rows are locked in one order, since other processes write the same rows concurrently.
	await db.query(
		`with used as (
			select k.id, u.at
			from unnest($1::text[], $2::timestamptz[]) as u (id, at) join api_keys k using (id)
			where k.last_used_at is null or k.last_used_at < u.at
			order by k.id for no key update of k
		)
		update api_keys k set last_used_at = greatest(k.last_used_at, used.at) from used where k.id = used.id`,
		[[...usedAtMs.keys()], Array.from(usedAtMs.values(), (ms) => new Date(ms).toISOString())],
	);
}
