import { randomBytes } from "node:crypto";
import { createApiKey } from "../../api/key/api-key.ts";
import { insertApiKeys, replaceApiKey } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readPepper } from "../../config/secrets.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";
import { keyState } from "./key-state.ts";
import { lockKey } from "./lock-key.ts";
import { parseKeyId } from "./parse-key-id.ts";
import { parseDuration, parseExpiry } from "./parse-time.ts";

/** Creates a key of the same account with the same limits. The old one stays valid for the overlap. */
export async function rotateKeyCommand({
	id: text,
	overlap,
	expires,
	actor,
	json,
}: {
	id: string;
	overlap: string;
	expires?: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const id = parseKeyId(text);
	const nowMs = Date.now();
	const overlapEndsAt = new Date(nowMs + parseDuration("--overlap", overlap));
	const expiresAt = expires === undefined ? undefined : parseExpiry("--expires", expires, { nowMs });
	const made = createApiKey({ pepper: readPepper(), random: randomBytes });
	const { accountId, oldExpiresAt } = await changeAs(readActor(actor), async (db) => {
		const old = await lockKey(db, id);
		const state = keyState(old, nowMs);
		if (old.replacedBy) {
			throw new ConfigError(
				"keys rotate",
				`${id} was already replaced by ${old.replacedBy}: rotate that key, or create one with geoswapd keys create`,
			);
		}
		if (state === "revoked" || state === "expired") {
			throw new ConfigError("keys rotate", `${id} is ${state}: create a key with geoswapd keys create`);
		}
		// A key that was meant to expire must not become permanent by an oversight.
		if (old.expiresAt && expires === undefined) {
			throw new ConfigError(
				"--expires",
				`${id} expires ${old.expiresAt.toISOString()}: say when the new key expires, as 90d, or never`,
			);
		}
		await insertApiKeys(db, { keys: [made], accountId: old.accountId, limits: old.limits, expiresAt });
		const oldExpiresAt = await replaceApiKey(db, { id, replacedBy: made.id, expiresAt: overlapEndsAt });
		return { accountId: old.accountId, oldExpiresAt };
	});
	if (json) {
		const replaced = { keyId: id, expiresAt: oldExpiresAt };
		console.log(
			JSON.stringify({
				apiKey: made.key,
				keyId: made.id,
				accountId,
				...(expiresAt && { expiresAt }),
				replaced,
			}),
		);
		return;
	}
	console.log(made.key);
	console.error(`It is not shown again. ${id} stays valid until ${oldExpiresAt.toISOString()}.`);
}
