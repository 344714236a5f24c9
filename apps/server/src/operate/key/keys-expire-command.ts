import { setApiKeyExpiry } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";
import { lockUnrevokedKey } from "./lock-key.ts";
import { parseKeyId } from "./parse-key-id.ts";
import { parseTime, parseTimeIn } from "./parse-time.ts";

export async function expireKeyCommand({
	id: text,
	at,
	in: duration,
	never,
	actor,
	json,
}: {
	id: string;
	at?: string;
	in?: string;
	never?: boolean;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const id = parseKeyId(text);
	if ([at, duration, never].filter((given) => given !== undefined).length !== 1) {
		throw new ConfigError("keys expire", "pass one of --at 2027-01-31, --in 90d or --never");
	}
	const nowMs = Date.now();
	const expiresAt =
		at !== undefined
			? parseTime("--at", at, { nowMs })
			: duration !== undefined
				? parseTimeIn("--in", duration, { nowMs })
				: undefined;
	await changeAs(readActor(actor), async (db) => {
		await lockUnrevokedKey(db, id);
		await setApiKeyExpiry(db, { id, expiresAt });
	});
	if (json) console.log(JSON.stringify({ keyId: id, expiresAt: expiresAt ?? null }));
	else console.log(expiresAt ? `${id} expires ${expiresAt.toISOString()}` : `${id} does not expire`);
}
