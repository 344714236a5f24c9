import { isSolana } from "@geoswap/protocol";
import type { Address } from "viem";
import { earnedTier, type FeeTier } from "./fee-tier.ts";

/** Which wallets pay less. */
export type FeeDiscounts = {
	/**
	 * The wallet's tier as far as it is known now. What is unknown or old is read in the background, for a later call, as
	 * far as the account that asks has not had too many read. Nothing is thrown, whatever the text: it may be anything that
	 * a caller sent.
	 */
	tierOf: (wallet: string, asked: { originChainId: number; accountId: string }) => FeeTier | undefined;
};

/** A tier that cannot be read again is believed for this many times as long as it counts. */
const staleFactor = 10;
/** After a chain that did not answer nobody is asked for so long: one that is down costs a few reads, not one per quote. */
const pauseMs = 5_000;
const readsAtOnce = 8;
const readsPerSecond = 20;
/**
 * Of the reads at once, and of those of a second, these are for wallets that are known to have a tier: a flood of others
 * leaves them theirs. At that rate the cache turns over in no less than eight minutes.
 */
const readsForHolders = { atOnce: 4, perSecond: 10 };
/** And of what is left for others no account gets more, whatever wallets it names. */
const readsOfAccount = { perSecond: 4, atOnce: 10 };
const walletsKept = 10_000;
const accountsKept = 10_000;
/** As viem calls it where there was no answer, or none but "later"; and what a deadline throws. */
const transportErrors = new Set([
	...["HttpRequestError", "WebSocketRequestError", "SocketClosedError", "TimeoutError"],
	...["LimitExceededRpcError", "AbortError"],
]);

type Reading = { tier: FeeTier | undefined; atMs: number };

/**
 * Tiers by what wallets hold of the service's token on one EVM chain. A wallet of any EVM chain counts there by the same
 * address; one of Solana has no address there. All that can be asked of it is bounded, since anyone names any wallet: how
 * many are kept, how many are read at once, and how many in a second, for all and for each account.
 */
export function createFeeDiscounts({
	tiers,
	decimals,
	cacheSeconds,
	timeoutMs,
	readBalance,
	nowMs,
	onError = () => {},
}: {
	/** Ascending. */
	tiers: readonly FeeTier[];
	/** Of the token. */
	decimals: number;
	cacheSeconds: number;
	timeoutMs: number;
	/** Rejects where the signal aborts. */
	readBalance: (wallet: Address, signal: AbortSignal) => Promise<bigint>;
	nowMs: () => number;
	onError?: (error: unknown) => void;
}): FeeDiscounts {
	/** Longest unused first. */
	const readings = new Map<Address, Reading>();
	const reading = new Set<Address>();
	const budget = createBudget({ perSecond: readsPerSecond, atOnce: readsPerSecond, nowMs });
	/** Longest unused first. */
	const budgets = new Map<string, Budget>();
	let pausedUntilMs = 0;
	const cacheMs = cacheSeconds * 1_000;

	return {
		tierOf: (text, { originChainId, accountId }) => {
			if (isSolana(originChainId) || !/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
			const wallet = text.toLowerCase() as Address;
			const known = readings.get(wallet);
			const ageMs = known ? nowMs() - known.atMs : Number.POSITIVE_INFINITY;
			if (known) remember(wallet, known);
			if (ageMs >= cacheMs) startRead(wallet, { isHolder: known?.tier !== undefined, accountId });
			return ageMs < cacheMs * staleFactor ? known?.tier : undefined;
		},
	};

	/** Where there is no room for it the next quote tries again. */
	function startRead(
		wallet: Address,
		{ isHolder, accountId }: { isHolder: boolean; accountId: string },
	): void {
		const left = isHolder ? { atOnce: 0, perSecond: 0 } : readsForHolders;
		if (reading.has(wallet) || reading.size >= readsAtOnce - left.atOnce || nowMs() < pausedUntilMs) return;
		if (!isHolder && !budgetOf(accountId).take()) return;
		if (!budget.take({ leaving: left.perSecond })) return;
		reading.add(wallet);
		void read(wallet, { isHolder }).finally(() => reading.delete(wallet));
	}

	async function read(wallet: Address, { isHolder }: { isHolder: boolean }): Promise<void> {
		try {
			const balance = await readBalance(wallet, AbortSignal.timeout(timeoutMs));
			remember(wallet, { tier: earnedTier(tiers, { balance, decimals }), atMs: nowMs() });
		} catch (error) {
			if (isTransportError(error)) pausedUntilMs = nowMs() + pauseMs;
			// The chain answers, and fails for this one: others are not to wait for that, only this one is.
			else if (!isHolder) remember(wallet, { tier: undefined, atMs: nowMs() + pauseMs - cacheMs });
			onError(error);
		}
	}

	function remember(wallet: Address, known: Reading): void {
		keep(readings, wallet, known, walletsKept);
	}

	function budgetOf(accountId: string): Budget {
		const own = budgets.get(accountId) ?? createBudget({ ...readsOfAccount, nowMs });
		keep(budgets, accountId, own, accountsKept);
		return own;
	}
}

/** As the last one of those that are kept; the first one goes where there are too many. */
function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value, most: number): void {
	kept.delete(key);
	kept.set(key, value);
	const oldest = kept.keys().next();
	if (kept.size > most && !oldest.done) kept.delete(oldest.value);
}

function isTransportError(error: unknown): boolean {
	for (let cause = error; cause instanceof Error; cause = cause.cause) {
		if (transportErrors.has(cause.name)) return true;
	}
	return false;
}

type Budget = {
	/** Takes one where more than `leaving` are left. */
	take: (options?: { leaving?: number }) => boolean;
};

function createBudget({
	perSecond,
	atOnce,
	nowMs,
}: {
	perSecond: number;
	atOnce: number;
	nowMs: () => number;
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
