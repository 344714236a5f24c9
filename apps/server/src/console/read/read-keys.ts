import type { Database } from "../../database/database.ts";

/** An account with its keys. Only the ids of keys are read. The console has no right to read even the hashes. */
export type AccountKeys = {
	id: string;
	name: string;
	createdAt: Date;
	keys: {
		id: string;
		limits: unknown;
		createdAt: Date;
		expiresAt: Date | undefined;
		revokedAt: Date | undefined;
		lastUsedAt: Date | undefined;
		replacedBy: string | null;
	}[];
};

/** Returns all accounts by name, each with its newest keys first. */
export async function readAccountKeys(db: Database): Promise<AccountKeys[]> {
	const { rows: accounts } = await db.query<{ id: string; name: string; createdAt: Date }>(
		`select id, name, created_at as "createdAt" from accounts order by name limit 1000`,
	);
	const { rows: keys } = await db.query<{
		id: string;
		accountId: string;
		limits: unknown;
		createdAt: Date;
		expiresAt: Date | null;
		revokedAt: Date | null;
		lastUsedAt: Date | null;
		replacedBy: string | null;
	}>(
		`select id, account_id as "accountId", limits, created_at as "createdAt", expires_at as "expiresAt",
			revoked_at as "revokedAt", last_used_at as "lastUsedAt", replaced_by as "replacedBy"
		from api_keys order by created_at desc, id limit 5000`,
	);
	return accounts.map((account) => ({
		...account,
		keys: keys
			.filter(({ accountId }) => accountId === account.id)
			.map(({ accountId: _, ...key }) => ({
				...key,
				expiresAt: key.expiresAt ?? undefined,
				revokedAt: key.revokedAt ?? undefined,
				lastUsedAt: key.lastUsedAt ?? undefined,
			})),
	}));
}
