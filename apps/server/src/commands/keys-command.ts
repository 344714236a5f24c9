import { randomBytes, randomUUID } from "node:crypto";
import { createApiKey } from "../api-key/api-key.ts";
import type { Operation } from "../api-key/api-keys.ts";
import { ConfigError } from "../config-error.ts";
import { readPepper, readSecret } from "../secrets.ts";
import { ensureAccount, insertApiKey, listApiKeys, revokeApiKey } from "../store/api-keys.ts";
import { type Database, openDatabase } from "../store/database.ts";

const operations: readonly Operation[] = ["quote", "build", "submit", "delegation", "status"];

export async function createKeyCommand({
	account,
	rate = [],
	json,
}: {
	account: string;
	/** Each as `quote=100`, per second. */
	rate?: readonly string[];
	json?: boolean;
}): Promise<void> {
	const limits = rate.length > 0 ? { rates: Object.fromEntries(rate.map(parseRate)) } : {};
	const pepper = readPepper();
	await withDatabase(async (db) => {
		const accountId = await ensureAccount(db, { id: randomUUID(), name: account });
		const { id, key, hash } = createApiKey({ pepper, random: randomBytes });
		await insertApiKey(db, { id, accountId, hash, limits });
		if (json) console.log(JSON.stringify({ apiKey: key, keyId: id, accountId }));
		else console.log(`${key}\nIt is not shown again. Revoke it with: geoswapd keys revoke ${id}`);
	});
}

export async function listKeysCommand({ json }: { json?: boolean }): Promise<void> {
	await withDatabase(async (db) => {
		const keys = (await listApiKeys(db)).map(({ hash: _, ...key }) => key);
		if (json) console.log(JSON.stringify(keys));
		else if (keys.length === 0) console.log("there are no keys: make one with geoswapd keys create");
		for (const { id, accountName, createdAt, revokedAt } of json ? [] : keys) {
			const state = revokedAt ? `revoked ${revokedAt.toISOString()}` : "valid";
			console.log(`${id}  ${accountName.padEnd(24)}  made ${createdAt.toISOString()}  ${state}`);
		}
	});
}

export async function revokeKeyCommand({ id, json }: { id: string; json?: boolean }): Promise<void> {
	await withDatabase(async (db) => {
		const isRevoked = await revokeApiKey(db, id);
		if (json) console.log(JSON.stringify({ keyId: id, revoked: isRevoked }));
		else if (isRevoked) console.log(`${id} is revoked`);
		if (!isRevoked)
			throw new ConfigError("keys revoke", `no valid key has the id ${id}: see geoswapd keys list`);
	});
}

function parseRate(text: string): [Operation, number] {
	const [, name, perSecond] = /^(\w+)=(\d{1,6}(?:\.\d+)?)$/.exec(text) ?? [];
	const operation = operations.find((candidate) => candidate === name);
	if (!operation || !(Number(perSecond) > 0)) {
		throw new ConfigError(
			"--rate",
			`"${text}" is not a rate: write one of ${operations.join(", ")}, = and a number`,
		);
	}
	return [operation, Number(perSecond)];
}

async function withDatabase(run: (db: Database) => Promise<void>): Promise<void> {
	const pool = openDatabase({ url: readSecret("DATABASE_URL"), applicationName: "geoswapd keys", max: 1 });
	try {
		await run(pool);
	} finally {
		await pool.end();
	}
}
