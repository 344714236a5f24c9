import { type KeyChange, listKeyChanges } from "../../api/key/key-changes.ts";
import { ConfigError } from "../../config/config-error.ts";
import { withDatabase } from "../with-database.ts";
import { parseKeyId } from "./parse-key-id.ts";

export async function keyHistoryCommand({
	account,
	key,
	limit,
	json,
}: {
	account?: string;
	key?: string;
	limit: string;
	json?: boolean;
}): Promise<void> {
	const keyId = key === undefined ? undefined : parseKeyId(key);
	if (!/^[1-9]\d{0,5}$/.test(limit)) {
		throw new ConfigError("--limit", `"${limit}" is not a number of changes: write 1 to 999999`);
	}
	const changes = await withDatabase((db) =>
		listKeyChanges(db, { accountName: account, keyId, limit: Number(limit) }),
	);
	if (json) return console.log(JSON.stringify(changes));
	if (changes.length === 0) console.log("there are no changes");
	for (const entry of changes) {
		const { at, change, keyId, accountId, actor, databaseUser } = entry;
		const who = actor === databaseUser ? actor : `${actor} (as ${databaseUser})`;
		console.log(
			`${at.toISOString()}  ${change.padEnd(15)}  ${keyId ?? accountId}  by ${who}: ${describeChange(entry)}`,
		);
	}
}

/** Describes the fields that differ, or all of them if there was nothing before. */
function describeChange({ before = {}, after = {} }: KeyChange): string {
	const names = Object.keys({ ...before, ...after });
	const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value ?? null));
	return names
		.map((name) => ({ name, from: shown(before[name]), to: shown(after[name]) }))
		.filter(({ from, to }) => from !== to)
		.map(({ name, from, to }) => (from === "null" ? `${name} ${to}` : `${name} ${from} -> ${to}`))
		.join(", ");
}
