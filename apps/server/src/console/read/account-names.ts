import type { Database } from "../../database/database.ts";

/** Returns the names of accounts, by id. */
export async function readAccountNames(
	db: Database,
	ids: readonly (string | undefined)[],
): Promise<Map<string, string>> {
	const { rows } = await db.query<{ id: string; name: string }>(
		"select id, name from accounts where id = any($1::uuid[])",
		[[...new Set(ids.filter((id) => id !== undefined))]],
	);
	return new Map(rows.map(({ id, name }) => [id, name]));
}
