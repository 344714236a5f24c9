import { setTimeout } from "node:timers/promises";
import { type Milliseconds, type Seconds, SwapError } from "@geoswap/protocol";

/** Values that are read elsewhere and kept in memory, by a key that a caller may choose. */
export type BoundedReadings<Key extends string, Value> = {
	/**
	 * Returns the key's value, or undefined if it has none or is not known. A key that was never read is read now, and
	 * the call waits for that read for a moment; an old value is read again in the background, for a later call. Neither
	 * happens if the requesting account has had too many keys read. Never rejects.
	 */
	valueOf: (key: Key, asked: { accountId: string }) => Promise<Value | undefined>;
};

/** A value that cannot be read again is used for this many times its cache time. */
const staleFactor = 10;
/**
 * Time without reads after a chain did not answer, so that a chain that is down costs a few reads, not one per quote.
 */
const pauseMs = 5_000;
/** The maximum wait for the first read of a key, so that a first quote has the value and no quote is slow. */
const firstReadWaitMs = 100;
/**
 * Limits of first reads and, separately, of repeated reads of keys that have a value, so that neither kind can starve
 * the other. With 20 reads per second in all, the cache turns over in no less than eight minutes.
 */
const readsOfKind = { atOnce: 4, perSecond: 10 };
/** A kind may also use what the other kind leaves unused, down to this many of the other's reads. */
const readsLeftToOther = 5;
/** No account gets more reads of a kind than this, regardless of the keys that it names. */
const readsOfAccount = { perSecond: 4, atOnce: 10 };
const keysKept = 10_000;
const accountsKept = 10_000;
/** Names of the errors that viem throws for no answer or a rate limit, and of the one that a timeout throws. */
const transportErrors = new Set([
	...["HttpRequestError", "WebSocketRequestError", "SocketClosedError", "TimeoutError"],
	...["LimitExceededRpcError", "AbortError"],
]);

/**
 * Creates readings that bound everything that a caller can cause, since anyone can name any key: how many keys are
 * kept, how many are read concurrently, and how many are read in a second, for all accounts together and for each one.
 */
export function createReadThroughCache<Key extends string, Value>({
	cacheSeconds,
	timeoutMs,
	read: readValue,
	nowMs,
	onError = () => {},
}: {
	/** Age at which a value is read again. */
	cacheSeconds: Seconds;
	timeoutMs: Milliseconds;
	/** Rejects if the signal aborts. */
	read: (key: Key, signal: AbortSignal) => Promise<Value | undefined>;
	nowMs: () => Milliseconds;
	onError?: (error: unknown) => void;
}): BoundedReadings<Key, Value> {
	type Reading = { value: Value | undefined; atMs: Milliseconds };
	/** Longest unused first. */
	const readings = new Map<Key, Reading>();
	/** Reads in flight, each with a promise that resolves once it has ended or has taken too long to wait for. */
	const reading = new Map<Key, Promise<void>>();
	const firstReads = createShare(nowMs);
	const repeatedReads = createShare(nowMs);
	let pausedUntilMs = 0;
	const cacheMs = cacheSeconds * 1_000;

	return {
		valueOf: async (key, { accountId }) => {
			const known = readings.get(key);
			const ageMs = known ? nowMs() - known.atMs : Number.POSITIVE_INFINITY;
			if (known) remember(key, known);
			if (ageMs >= cacheMs) startRead(key, { hasValue: known?.value !== undefined, accountId });
			if (ageMs < cacheMs * staleFactor) return known?.value;
			await reading.get(key);
			const latest = readings.get(key);
			return latest && nowMs() - latest.atMs < cacheMs ? latest.value : undefined;
		},
	};

	/** Begins to read a value. If there is no room for it, the next call tries again. */
	function startRead(key: Key, { hasValue, accountId }: { hasValue: boolean; accountId: string }): void {
		const [own, other] = hasValue ? [repeatedReads, firstReads] : [firstReads, repeatedReads];
		if (reading.has(key) || own.underWay >= readsOfKind.atOnce || nowMs() < pausedUntilMs) return;
		if (!budgetOf(own, accountId).take()) return;
		if (!own.budget.take() && !other.budget.take({ leaving: readsLeftToOther })) return;
		own.underWay++;
		const ended = read(key, { hasValue }).finally(() => {
			own.underWay--;
			reading.delete(key);
		});
		reading.set(key, Promise.race([ended, setTimeout(firstReadWaitMs, undefined, { ref: false })]));
	}

	async function read(key: Key, { hasValue }: { hasValue: boolean }): Promise<void> {
		try {
			const value = await readValue(key, AbortSignal.timeout(timeoutMs));
			remember(key, { value, atMs: nowMs() });
		} catch (error) {
			if (isTransportError(error)) pausedUntilMs = nowMs() + pauseMs;
			// The chain answers, but fails for this key, so only this key waits.
			else if (!hasValue) remember(key, { value: undefined, atMs: nowMs() + pauseMs - cacheMs });
			onError(error);
		}
	}

	function remember(key: Key, known: Reading): void {
		keep(readings, key, known, keysKept);
	}

	function budgetOf({ byAccount }: Share, accountId: string): Budget {
		const own = byAccount.get(accountId) ?? createBudget({ ...readsOfAccount, nowMs });
		keep(byAccount, accountId, own, accountsKept);
		return own;
	}
}

/** Adds the entry as the newest of those that are kept, and removes the oldest if there are too many. */
function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value, most: number): void {
	kept.delete(key);
	kept.set(key, value);
	const oldest = kept.keys().next();
	if (kept.size > most && !oldest.done) kept.delete(oldest.value);
}

function isTransportError(error: unknown): boolean {
	if (error instanceof SwapError) return error.code === "UPSTREAM_UNAVAILABLE";
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		if (transportErrors.has(cause.name)) return true;
	}
	return false;
}

/** The limits of one kind of reads: first reads or repeated reads. */
type Share = {
	underWay: number;
	budget: Budget;
	/** Longest unused first. */
	byAccount: Map<string, Budget>;
};

function createShare(nowMs: () => Milliseconds): Share {
	const { perSecond } = readsOfKind;
	return {
		underWay: 0,
		budget: createBudget({ perSecond, atOnce: perSecond, nowMs }),
		byAccount: new Map(),
	};
}

type Budget = {
	/** Takes one if more than `leaving` are left. Returns whether it did. */
	take: (options?: { leaving?: number }) => boolean;
};

function createBudget({
	perSecond,
	atOnce,
	nowMs,
}: {
	perSecond: number;
	atOnce: number;
	nowMs: () => Milliseconds;
}): Budget {
	let left = atOnce;
	let atMs = nowMs();
	return {
		take: ({ leaving = 0 } = {}) => {
			const now = nowMs();
			left = Math.min(atOnce, left + (Math.max(0, now - atMs) / 1_000) * perSecond);
			atMs = now;
			if (left < leaving + 1) return false;
			left -= 1;
			return true;
		},
	};
}
