import { randomBytes, randomUUID } from "node:crypto";
import { ensureAccount, findAccountId } from "../../api/key/accounts.ts";
import { createApiKey } from "../../api/key/api-key.ts";
import {
	insertApiKeys,
	listApiKeys,
	replaceApiKey,
	revokeApiKey,
	setApiKeyExpiry,
	setApiKeyLimits,
} from "../../api/key/api-key-record.ts";
import { type KeyChange, listKeyChanges } from "../../api/key/key-changes.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readPepper } from "../../config/secrets.ts";
import { checkName } from "../check-name.ts";
import { readActor } from "../read-actor.ts";
import { changeAs, withDatabase } from "../with-database.ts";
import { keyState, lockKey, lockUnrevokedKey, parseKeyId } from "./key-state.ts";
import {
	changeLimits,
	type LimitOptions,
	parseDuration,
	parseExpiry,
	parseTime,
	parseTimeIn,
} from "./parse-limits.ts";

const maxCount = 10_000;

export async function createKeyCommand({
	account,
	rate,
	held,
	maxUsdPerDay,
	expires,
	count,
	actor,
	json,
}: LimitOptions & {
	account: string;
	expires?: string;
	count?: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	checkName("--account", account);
	const limits = changeLimits({}, { rate, held, maxUsdPerDay });
	const expiresAt =
		expires === undefined ? undefined : parseExpiry("--expires", expires, { nowMs: Date.now() });
	const length = parseCount(count);
	const pepper = readPepper();
	const keys = Array.from({ length }, () => createApiKey({ pepper, random: randomBytes }));
	const accountId = await changeAs(readActor(actor), async (db) => {
		const accountId = await ensureAccount(db, { id: randomUUID(), name: account });
		await insertApiKeys(db, { keys, accountId, limits, expiresAt });
		return accountId;
	});
	if (json) {
		const shown = keys.map(({ id, key }) => ({
			apiKey: key,
			keyId: id,
			accountId,
			...(expiresAt && { expiresAt }),
		}));
		console.log(JSON.stringify(count === undefined ? shown[0] : shown));
		return;
	}
	for (const { key } of keys) console.log(key);
	// Printed to stderr, so that the keys can go straight into a file.
	console.error(
		keys.length === 1
			? `It is not shown again. Revoke it with: geoswapd keys revoke ${keys[0]?.id}`
			: "They are not shown again. List them without their secrets with: geoswapd keys list",
	);
}

function parseCount(text = "1"): number {
	const count = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
	if (count < 1 || count > maxCount) {
		throw new ConfigError("--count", `"${text}" is not a number of keys; write 1 to ${maxCount}`);
	}
	return count;
}

export async function listKeysCommand({
	account,
	json,
}: {
	account?: string;
	json?: boolean;
}): Promise<void> {
	const nowMs = Date.now();
	const keys = await withDatabase(async (db) => {
		const accountId = account === undefined ? undefined : await findAccountId(db, account);
		if (account !== undefined && accountId === undefined) {
			throw new ConfigError("--account", `no account is named "${account}"; see geoswapd accounts list`);
		}
		const records = await listApiKeys(db, { accountId });
		return records.map(({ hash: _, ...key }) => ({ ...key, state: keyState(key, nowMs) }));
	});
	if (json) return console.log(JSON.stringify(keys));
	if (keys.length === 0) console.log("there are no keys; create one with geoswapd keys create");
	for (const { id, accountName, state, createdAt, expiresAt, lastUsedAt, revokedAt, replacedBy } of keys) {
		const facts = [
			`created ${createdAt.toISOString()}`,
			lastUsedAt ? `used ${lastUsedAt.toISOString()}` : "never used",
			revokedAt
				? `revoked ${revokedAt.toISOString()}`
				: expiresAt && `${state === "expired" ? "expired" : "expires"} ${expiresAt.toISOString()}`,
			replacedBy && `replaced by ${replacedBy}`,
		].filter(Boolean);
		console.log(`${id}  ${accountName.padEnd(24)}  ${state.padEnd(8)}  ${facts.join(", ")}`);
	}
}

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
		throw new ConfigError("--limit", `"${limit}" is not a number of changes; write 1 to 999999`);
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

export async function limitKeyCommand({
	id: text,
	rate,
	held,
	maxUsdPerDay,
	actor,
	json,
}: LimitOptions & {
	id: string;
	actor?: string;
	json?: boolean;
}): Promise<void> {
	const id = parseKeyId(text);
	if (!rate && held === undefined && maxUsdPerDay === undefined) {
		throw new ConfigError(
			"keys limits",
			"name a limit to change: --rate quote=100, --held 10 or --max-usd-per-day 50000",
		);
	}
	// Invalid options are reported before the database is queried.
	changeLimits({}, { rate, held, maxUsdPerDay });
	const limits = await changeAs(readActor(actor), async (db) => {
		const key = await lockUnrevokedKey(db, id);
		const limits = changeLimits(key.limits, { rate, held, maxUsdPerDay });
		await setApiKeyLimits(db, { id, limits });
		return limits;
	});
	if (json) return console.log(JSON.stringify({ keyId: id, limits }));
	const own = [
		...Object.entries(limits.rates ?? {}).map(([operation, perSecond]) => `${operation} ${perSecond}/s`),
		...(limits.heldStatusCalls === undefined ? [] : [`${limits.heldStatusCalls} held status calls`]),
		...(limits.maxUsdPerDay === undefined ? [] : [describeMaxUsdPerDay(limits.maxUsdPerDay)]),
	];
	console.log(`${id}: ${[...own, own.length > 0 ? "else as configured" : "all as configured"].join(", ")}`);
}

function describeMaxUsdPerDay(maxUsdPerDay: number | null): string {
	return maxUsdPerDay === null ? "any value in 24 hours" : `${maxUsdPerDay} USD in 24 hours`;
}

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
				`${id} was already replaced by ${old.replacedBy}; rotate that key, or create one with geoswapd keys create`,
			);
		}
		if (state === "revoked" || state === "expired") {
			throw new ConfigError("keys rotate", `${id} is ${state}; create a key with geoswapd keys create`);
		}
		// A key that was meant to expire must not become permanent by an oversight.
		if (old.expiresAt && expires === undefined) {
			throw new ConfigError(
				"--expires",
				`${id} expires ${old.expiresAt.toISOString()}; set the expiry of the new key with --expires, as 90d, or never`,
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
