import type { Milliseconds } from "@geoswap/protocol";
import { findApiKeysIn } from "../../api/key/api-key.ts";
import { type ApiKeyRecord, lockApiKey } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Database } from "../../database/database.ts";

export type KeyState = "valid" | "expiring" | "expired" | "revoked";

/** Enough time to give the owner another key. */
const expiringMs = 7 * 86_400_000;

/** Returns the key's state. An `expiring` key is still valid, for at most a week. */
export function keyState(
	{ revokedAt, expiresAt }: Pick<ApiKeyRecord, "revokedAt" | "expiresAt">,
	nowMs: Milliseconds,
): KeyState {
	if (revokedAt) return "revoked";
	if (!expiresAt) return "valid";
	const leftMs = expiresAt.getTime() - nowMs;
	if (leftMs <= 0) return "expired";
	return leftMs <= expiringMs ? "expiring" : "valid";
}

/** Returns the key of this id, locked for the rest of the transaction. */
export async function lockKey(db: Database, id: string): Promise<ApiKeyRecord> {
	const key = await lockApiKey(db, id);
	if (!key) throw new ConfigError("the key's id", `no key has the id ${id}; see geoswapd keys list`);
	return key;
}

/** Does the same for a key that can still be changed. */
export async function lockUnrevokedKey(db: Database, id: string): Promise<ApiKeyRecord> {
	const key = await lockKey(db, id);
	if (key.revokedAt) {
		throw new ConfigError(
			"the key's id",
			`${id} was revoked ${key.revokedAt.toISOString()}, permanently; create a key with geoswapd keys create`,
		);
	}
	return key;
}

/** Returns a key's id. Also accepts the whole key, since a leaked key may be all that the operator has. */
export function parseKeyId(text: string): string {
	const id = findApiKeysIn(text)[0]?.id ?? text;
	// The input is not quoted, because it may be most of a key.
	if (!/^[0-9a-hjkmnp-tv-z]{12}$/.test(id)) {
		throw new ConfigError(
			"the key's id",
			"must be the 12 letters and digits between the underscores of a key; see geoswapd keys list",
		);
	}
	return id;
}
