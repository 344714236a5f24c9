import { SwapError } from "@geoswap/protocol";
import { type ApiKeyRecord, findApiKey } from "../store/api-keys.ts";
import type { Database } from "../store/database.ts";
import { isApiKey, readApiKeyId } from "./api-key.ts";

export type Operation = "quote" | "build" | "submit" | "delegation" | "status";

export type KeyLimits = {
	/** Per second, by operation. */
	rates: Record<Operation, number>;
	heldStatusCalls: number;
};

/** Who calls. */
export type Account = { accountId: string; keyId: string; limits: KeyLimits };

export type ApiKeys = {
	/** Who a header's value speaks for. Throws UNAUTHORIZED. */
	authenticate(key: string | undefined): Promise<Account>;
};

type Entry = { readAtMs: number; record: Promise<ApiKeyRecord | undefined>; isRefreshing: boolean };

const freshMs = 1_000;
/** How long a revoked key may go on. */
const staleMs = 2_000;

/** Keys with a memory of two seconds. One that is in use is read again before that, so no call waits for it. */
export function createApiKeys({
	db,
	pepper,
	limits,
	nowMs = Date.now,
	maxEntries = 10_000,
}: {
	db: Database;
	pepper: string;
	/** Of keys that have none of their own. */
	limits: KeyLimits;
	nowMs?: () => number;
	maxEntries?: number;
}): ApiKeys {
	const entries = new Map<string, Entry>();

	function read(id: string): Entry {
		const entry: Entry = { readAtMs: nowMs(), record: findApiKey(db, id), isRefreshing: false };
		entry.record.catch(() => {
			if (entries.get(id) === entry) entries.delete(id);
		});
		return entry;
	}

	function remember(id: string, entry: Entry): void {
		entries.delete(id);
		entries.set(id, entry);
		// A map keeps its order: the first is the one read longest ago.
		const oldest = entries.keys().next();
		if (entries.size > maxEntries && !oldest.done) entries.delete(oldest.value);
	}

	function lookUp(id: string): Promise<ApiKeyRecord | undefined> {
		const known = entries.get(id);
		const ageMs = known ? nowMs() - known.readAtMs : Number.POSITIVE_INFINITY;
		if (known && ageMs < freshMs) return known.record;
		if (known && ageMs < staleMs) {
			if (!known.isRefreshing) {
				known.isRefreshing = true;
				const next = read(id);
				next.record.then(
					() => remember(id, next),
					() => {
						known.isRefreshing = false;
					},
				);
			}
			return known.record;
		}
		const entry = read(id);
		remember(id, entry);
		return entry.record;
	}

	return {
		async authenticate(key) {
			const id = key === undefined ? undefined : readApiKeyId(key, { pepper });
			if (key === undefined || id === undefined) throw new SwapError("UNAUTHORIZED", undefined);
			const record = await lookUp(id).catch((cause: unknown) => {
				throw new SwapError("UPSTREAM_UNAVAILABLE", { upstream: "database" }, { cause });
			});
			if (!record || record.revokedAt || !isApiKey(key, { hash: record.hash, pepper })) {
				throw new SwapError("UNAUTHORIZED", undefined);
			}
			return { accountId: record.accountId, keyId: id, limits: withOwn(limits, record.limits) };
		},
	};
}

function withOwn(limits: KeyLimits, own: ApiKeyRecord["limits"]): KeyLimits {
	return {
		rates: { ...limits.rates, ...own.rates },
		heldStatusCalls: own.heldStatusCalls ?? limits.heldStatusCalls,
	};
}
