import { revokeApiKey } from "../../api/key/api-key-record.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";
import { lockKey } from "./lock-key.ts";
import { parseKeyId } from "./parse-key-id.ts";

/**
 * Revokes a key. Succeeds also if it is revoked already, because an operator who repeats the command in haste has
 * what he wants.
 */
export async function revokeKeyCommand({
	id: text,
	actor,
	json,
}: {
	id: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const id = parseKeyId(text);
	const revokedAt = await changeAs(readActor(actor), async (db) => {
		const key = await lockKey(db, id);
		await revokeApiKey(db, id);
		return key.revokedAt;
	});
	if (json) console.log(JSON.stringify({ keyId: id, revoked: true }));
	else if (revokedAt) console.log(`${id} was already revoked, ${revokedAt.toISOString()}`);
	else console.log(`${id} is revoked; every API process refuses it within two seconds`);
}
