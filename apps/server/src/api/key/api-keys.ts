import { hash } from "node:crypto";
import { type Milliseconds, SwapError } from "@geoswap/protocol";
import type { Database } from "../../database/database.ts";
import { idPartOf, isApiKey, readApiKeyId } from "./api-key.ts";
import { type ApiKeyRecord, findApiKeys, touchApiKeys } from "./api-key-record.ts";
import type { Operation } from "./operations.ts";

export type { Operation };

export type KeyLimits = {
	/** Requests per second, by operation. */
	rates: Record<Operation, number>;
	heldStatusCalls: number;
	/** The maximum value of an account's swaps that this key may add to in 24 hours. Absent if it is not limited. */
	maxUsdPerDay?: number | undefined;
};

/** The account that makes a request. */
export type Account = { accountId: string; accountCreatedAt: Date; keyId: string; limits: KeyLimits };

export type ApiKeys = {
	/** Returns the account that a header's value authenticates. Throws UNAUTHORIZED. */
	authenticate(key: string | undefined): Promise<Account>;
};

type Entry = {
	readAtMs: Milliseconds;
	record: ApiKeyRecord | undefined;
	isUsed: boolean;
	/** The caller, and the hash of a key that was verified against the record. That key is not verified again. */
	proven?: { account: Account; digest: string };
};
type Read = { startedAtMs: Milliseconds; entry: Promise<Entry> };

const rereadMs = 1_000;
/** Milliseconds for which a revoked key may still be accepted. */
const staleMs = 2_000;
const writeLastUsedMs = 10_000;
/** Milliseconds that a caller waits for its key to be read. */
const waitMs = 15_000;

/**
 * Creates a cache of keys that trusts an entry for two seconds. Once a second, keys used since the last reading are
 * read again in one query, so that no call with a key in use waits for the database. A key that was not read again in
 * time is read before it is trusted.
 */
export function createApiKeys({
	db,
	pepper,
	limits,
	nowMs = Date.now,
	maxEntries = 10_000,
	onError = () => {},
}: {
	db: Database;
	pepper: string;
	/** The limits of keys without own limits. */
	limits: KeyLimits;
	nowMs?: () => Milliseconds;
	maxEntries?: number;
	/** Called with errors of background work. */
	onError?: (error: unknown) => void;
}): ApiKeys & {
	/** Stores when keys were last used. Afterwards keys are no longer read again in the background. */
	close(): Promise<void>;
} {
	const entries = new Map<string, Entry>();
	const reads = new Map<string, Read>();
	let lastUsedMs = new Map<string, number>();
	let nextRead: { ids: string[]; records: Promise<Map<string, ApiKeyRecord>> } | undefined;
	let isRereading = false;

	function isFresh(readAtMs: Milliseconds): boolean {
		const ageMs = nowMs() - readAtMs;
		// A clock that was set back must not make a stale entry fresh.
		return ageMs >= 0 && ageMs < staleMs;
	}

	function remember(id: string, entry: Entry): void {
		const known = entries.get(id);
		// A slow answer may arrive after the answer to a later query.
		if (known && isFresh(known.readAtMs) && known.readAtMs > entry.readAtMs) return;
		entries.delete(id);
		entries.set(id, entry);
		// A map keeps the order of insertion, so the first entry was read longest ago.
		const oldest = entries.keys().next();
		if (entries.size > maxEntries && !oldest.done) entries.delete(oldest.value);
	}

	/** Reads a record. Calls in the same turn of the event loop share a query. */
	function readTogether(id: string): Promise<ApiKeyRecord | undefined> {
		if (!nextRead) {
			const ids: string[] = [];
			const records = new Promise((resolve) => setImmediate(resolve)).then(() => {
				nextRead = undefined;
				return readRecords(db, ids);
			});
			nextRead = { ids, records };
		}
		nextRead.ids.push(id);
		return nextRead.records.then((records) => records.get(id));
	}

	async function read(id: string): Promise<Entry> {
		const known = reads.get(id);
		if (known && isFresh(known.startedAtMs)) return known.entry;
		const startedAtMs = nowMs();
		const entry = readTogether(id).then((record) => ({ readAtMs: startedAtMs, record, isUsed: true }));
		const started = { startedAtMs, entry };
		reads.set(id, started);
		try {
			remember(id, await entry);
			return await entry;
		} finally {
			if (reads.get(id) === started) reads.delete(id);
		}
	}

	/** Returns the caller of a key that was checked since its record was last read. */
	function provenBefore(key: string): Account | undefined {
		const id = idPartOf(key);
		const entry = entries.get(id);
		if (!entry?.record || !entry.proven || !isFresh(entry.readAtMs)) return undefined;
		if (entry.proven.digest !== digestOf(key) || isOver(entry.record, nowMs())) return undefined;
		entry.isUsed = true;
		lastUsedMs.set(id, nowMs());
		return entry.proven.account;
	}

	/**
	 * Reads an entry until it is fresh. An answer is as old as its query, so a slow answer is as stale as an old cache
	 * entry. It is read again instead of refusing the callers, since slowness may only mean many concurrent callers,
	 * until the total time is too long as well.
	 */
	async function readFresh(id: string): Promise<Entry> {
		const startedAtMs = nowMs();
		while (nowMs() - startedAtMs < waitMs) {
			const entry = await read(id).catch(unavailable);
			if (isFresh(entry.readAtMs)) return entry;
		}
		return unavailable();
	}

	async function reread(): Promise<void> {
		const used: string[] = [];
		for (const [id, entry] of entries) {
			// Unknown ids are not read again. Otherwise a caller who invents ids would have all of them read for two
			// seconds.
			if (entry.isUsed && entry.record) used.push(id);
			else if (!isFresh(entry.readAtMs)) entries.delete(id);
			entry.isUsed = false;
		}
		if (used.length === 0) return;
		const readAtMs = nowMs();
		const records = await readRecords(db, used);
		for (const id of used) {
			remember(id, { readAtMs, record: records.get(id), isUsed: entries.get(id)?.isUsed ?? false });
		}
	}

	async function writeLastUsed(): Promise<void> {
		if (lastUsedMs.size === 0) return;
		const written = lastUsedMs;
		lastUsedMs = new Map();
		try {
			await touchApiKeys(db, written);
		} catch (error) {
			// They will be written together with the next ones.
			lastUsedMs = new Map([...written, ...lastUsedMs]);
			onError(error);
		}
	}

	const rereading = setInterval(() => {
		// A database that hangs must not get more and more queries.
		if (isRereading) return;
		isRereading = true;
		reread()
			.catch(onError)
			.finally(() => {
				isRereading = false;
			});
	}, rereadMs);
	let writing = Promise.resolve();
	const startWriting = () => {
		writing = writing.then(writeLastUsed);
		return writing;
	};
	const writingLastUsed = setInterval(() => void startWriting(), writeLastUsedMs);

	return {
		async authenticate(key) {
			const again = key === undefined ? undefined : provenBefore(key);
			if (again) return again;
			const id = key === undefined ? undefined : readApiKeyId(key, { pepper });
			if (key === undefined || id === undefined) throw new SwapError("UNAUTHORIZED", undefined);
			const known = entries.get(id);
			const entry = known && isFresh(known.readAtMs) ? known : await readFresh(id);
			const { record } = entry;
			entry.isUsed = true;
			if (!record || !isApiKey(key, { hash: record.hash, pepper }) || isOver(record, nowMs())) {
				throw new SwapError("UNAUTHORIZED", undefined);
			}
			lastUsedMs.set(id, nowMs());
			const { accountId, accountCreatedAt } = record;
			const account = { accountId, accountCreatedAt, keyId: id, limits: withOwn(limits, record.limits) };
			entry.proven = { account, digest: digestOf(key) };
			return account;
		},
		close() {
			clearInterval(rereading);
			clearInterval(writingLastUsed);
			return startWriting();
		},
	};
}

function unavailable(cause?: unknown): never {
	throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: "database" }, { cause });
}

/**
 * Returns a digest to compare instead of the key. The comparison's duration then reveals nothing about the key, and
 * no key is kept.
 */
function digestOf(key: string): string {
	return hash("sha256", key, "base64");
}

async function readRecords(db: Database, ids: readonly string[]): Promise<Map<string, ApiKeyRecord>> {
	return new Map((await findApiKeys(db, ids)).map((record) => [record.id, record]));
}

function isOver({ revokedAt, expiresAt }: ApiKeyRecord, nowMs: Milliseconds): boolean {
	return revokedAt !== undefined || (expiresAt !== undefined && expiresAt.getTime() <= nowMs);
}

function withOwn(limits: KeyLimits, own: ApiKeyRecord["limits"]): KeyLimits {
	return {
		rates: { ...limits.rates, ...own.rates },
		heldStatusCalls: own.heldStatusCalls ?? limits.heldStatusCalls,
		maxUsdPerDay: own.maxUsdPerDay === undefined ? limits.maxUsdPerDay : (own.maxUsdPerDay ?? undefined),
	};
}
