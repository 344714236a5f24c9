import { setApiKeyLimits } from "../../api/key/api-key-record.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readActor } from "../read-actor.ts";
import { changeAs } from "../with-database.ts";
import { lockUnrevokedKey } from "./lock-key.ts";
import { parseKeyId } from "./parse-key-id.ts";
import { changeLimits, type LimitOptions } from "./parse-limits.ts";

export async function limitKeyCommand({
	id: text,
	rate,
	held,
	actor,
	json,
}: LimitOptions & {
	id: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const id = parseKeyId(text);
	if (!rate && held === undefined) {
		throw new ConfigError("keys limits", "name a limit to change: --rate quote=100 or --held 10");
	}
	// Invalid options are reported before the database is queried.
	changeLimits({}, { rate, held });
	const limits = await changeAs(readActor(actor), async (db) => {
		const key = await lockUnrevokedKey(db, id);
		const limits = changeLimits(key.limits, { rate, held });
		await setApiKeyLimits(db, { id, limits });
		return limits;
	});
	if (json) return console.log(JSON.stringify({ keyId: id, limits }));
	const own = [
		...Object.entries(limits.rates ?? {}).map(([operation, perSecond]) => `${operation} ${perSecond}/s`),
		...(limits.heldStatusCalls === undefined ? [] : [`${limits.heldStatusCalls} held status calls`]),
	];
	console.log(`${id}: ${[...own, own.length > 0 ? "else as configured" : "all as configured"].join(", ")}`);
}
