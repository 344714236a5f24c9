import type { Database } from "./database.ts";

/** What a key may do instead of the configured limits. */
export type StoredLimits = {
	/** Requests per second, by operation. */
	rates?: Record<string, number>;
	heldStatusCalls?: number;
};

export type ApiKeyRecord = {
	id: string;
	accountId: string;
	accountName: string;
	hash: Uint8Array;
	limits: StoredLimits;
	createdAt: Date;
	revokedAt: Date | undefined;
};

type ApiKeyRow = {
	id: string;
	account_id: string;
	account_name: string;
	hash: Buffer;
	limits: StoredLimits;
	created_at: Date;
	revoked_at: Date | null;
};

const select =
	"select k.*, a.name as account_name from api_keys k join accounts a on a.id = k.account_id" as const;

/** The id of the account of this name, which is made where there is none. */
export async function ensureAccount(
	db: Database,
	{ id, name }: { id: string; name: string },
): Promise<string> {
	const { rows } = await db.query<{ id: string }>(
		"insert into accounts (id, name) values ($1, $2) on conflict (name) do update set name = $2 returning id",
		[id, name],
	);
	return rows[0]?.id ?? id;
}

export async function insertApiKey(
	db: Database,
	{
		id,
		accountId,
		hash,
		limits = {},
	}: { id: string; accountId: string; hash: Uint8Array; limits?: StoredLimits },
): Promise<void> {
	await db.query("insert into api_keys (id, account_id, hash, limits) values ($1, $2, $3, $4)", [
		id,
		accountId,
		hash,
		limits,
	]);
}

export async function findApiKey(db: Database, id: string): Promise<ApiKeyRecord | undefined> {
	const { rows } = await db.query<ApiKeyRow>({
		name: "find-api-key",
		text: `${select} where k.id = $1`,
		values: [id],
	});
	return rows[0] && apiKeyFromRow(rows[0]);
}

/** Newest first. */
export async function listApiKeys(db: Database): Promise<ApiKeyRecord[]> {
	const { rows } = await db.query<ApiKeyRow>(`${select} order by k.created_at desc, k.id`);
	return rows.map(apiKeyFromRow);
}

/** Whether there was such a key that was not revoked. */
export async function revokeApiKey(db: Database, id: string): Promise<boolean> {
	const { rowCount } = await db.query(
		"update api_keys set revoked_at = now() where id = $1 and revoked_at is null",
		[id],
	);
	return rowCount === 1;
}

function apiKeyFromRow(row: ApiKeyRow): ApiKeyRecord {
	return {
		id: row.id,
		accountId: row.account_id,
		accountName: row.account_name,
		hash: row.hash,
		limits: row.limits,
		createdAt: row.created_at,
		revokedAt: row.revoked_at ?? undefined,
	};
}
