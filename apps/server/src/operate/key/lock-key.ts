import { type ApiKeyRecord, lockApiKey } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";

/** Returns the key of this id, locked for the rest of the transaction. */
export async function lockKey(db: Database, id: string): Promise<ApiKeyRecord> {
	const key = await lockApiKey(db, id);
	if (!key) throw new ConfigError("the key's id", `no key has the id ${id}: see geoswapd keys list`);
	return key;
}

/** Does the same for a key that can still be changed. */
export async function lockUnrevokedKey(db: Database, id: string): Promise<ApiKeyRecord> {
	const key = await lockKey(db, id);
	if (key.revokedAt) {
		throw new ConfigError(
			"the key's id",
			`${id} was revoked ${key.revokedAt.toISOString()}, for good: create a key with geoswapd keys create`,
		);
	}
	return key;
}
