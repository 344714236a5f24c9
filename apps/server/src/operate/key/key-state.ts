import type { Milliseconds } from "@geoswap/protocol";
import type { ApiKeyRecord } from "../../api/key/api-key-record.ts";

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
