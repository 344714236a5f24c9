import { isSolana, mulDivUp } from "@geoswap/protocol";
import { GeoswapError } from "./geoswap-error.ts";
import { sleep } from "./sleep.ts";
import type { SwapStore } from "./swap-store.ts";

export type BudgetAsset = { chainId: number; token: string };

/** The swaps that a program may make without approval. All others are refused. Amounts are in the smallest unit. */
export type Budget = {
	/** The maximum amount of each token to spend in one swap and in any 24 hours. */
	spend: readonly (BudgetAsset & { perSwap: bigint; perDay: bigint })[];
	/** The pairs of tokens that may be swapped. The worst price is the minimum `output` for each `input`. */
	routes: readonly {
		from: BudgetAsset;
		to: BudgetAsset;
		worstPrice: { output: bigint; input: bigint };
	}[];
	recipients: readonly string[];
};

/** The terms of one swap: at most `amount` in, at least `minOutput` out. */
export type BudgetTerms = {
	id: string;
	originChain: number;
	destinationChain: number;
	inputToken: string;
	outputToken: string;
	amount: bigint;
	minOutput: bigint;
	recipient: string;
};

export const budgetLimits = ["route", "recipient", "worstPrice", "perSwap", "perDay", "ledger"] as const;
/** The part of a budget that refused a swap. */
export type BudgetLimit = (typeof budgetLimits)[number];

/** An amount that was reserved in the last 24 hours and not released. */
export type Reservation = BudgetAsset & {
	id: string;
	amount: bigint;
	atMs: number;
	/** Identifies the reservation, so that `release` does not remove a later one of the same id. */
	receipt: string;
};

export type BudgetLedger = ReturnType<typeof openLedger>;

const dayMs = 24 * 60 * 60 * 1_000;
const version = 1;
/** The ledger's name in its store. There is one for all budgets, so that their amounts are counted together. */
const ledgerId = "spent";
const lockPauseMs = 25;
const lockPatienceMs = 20_000;

/**
 * Opens the ledger of a budget in a store that outlives the process. Callers and processes that share the store share
 * the budget. The function that reserves an amount returns once the amount is on disk.
 */
export function openLedger({
	budget,
	store,
	nowMs = Date.now,
}: {
	budget: Budget;
	store: SwapStore;
	nowMs?: () => number;
}) {
	let last: Promise<unknown> = Promise.resolve();
	/** Runs changes one after the other: this process's by a queue, those of other processes by the store's lock. */
	const alone = <T>(change: () => Promise<T>): Promise<T> => {
		const run = async () => {
			const unlock = await lock(store, nowMs);
			try {
				return await change();
			} finally {
				// If the lock cannot be released, the next change waits for it and is refused.
				await unlock().catch(() => {});
			}
		};
		const result = last.then(run, run);
		last = result;
		return result;
	};
	const read = async () => current(parseLedger(await store.get(ledgerId)), nowMs());
	const write = (entries: readonly Reservation[]) => store.set(ledgerId, formatLedger(entries));

	return {
		budget,
		/** Throws if these terms could not be reserved now. Reserves nothing. */
		check: async (terms: BudgetTerms): Promise<void> => {
			expectAllowed(budget, terms);
			expectWithinDay(budget, await read(), terms);
		},
		/**
		 * Reserves the amount durably, or throws. Call it before each signature. A repeated id counts once, from the last
		 * call.
		 */
		reserve: async (terms: BudgetTerms): Promise<Reservation> => {
			expectAllowed(budget, terms);
			return alone(async () => {
				const entries = await read();
				expectWithinDay(budget, entries, terms);
				const before = entries.find(({ id }) => id === terms.id);
				const made: Reservation = {
					id: terms.id,
					chainId: terms.originChain,
					token: spelled(terms.originChain, terms.inputToken),
					amount: before && before.amount > terms.amount ? before.amount : terms.amount,
					atMs: nowMs(),
					receipt: crypto.randomUUID(),
				};
				await write([...entries.filter(({ id }) => id !== terms.id), made]);
				return made;
			});
		},
		/** Removes a reservation. Call it only for a swap that is known to have taken nothing. */
		release: ({ id, receipt }: Pick<Reservation, "id" | "receipt">): Promise<void> =>
			alone(async () => {
				const entries = await read();
				const kept = entries.filter((entry) => entry.id !== id || entry.receipt !== receipt);
				if (kept.length < entries.length) await write(kept);
			}),
		/** Returns the reservations that count now. */
		list: read,
		/** Returns how much of a token all swaps together may still spend now. */
		left: async (asset: BudgetAsset): Promise<bigint> => {
			const perDay = findSpend(budget, asset)?.perDay ?? 0n;
			const used = usedOf(await read(), asset);
			return used < perDay ? perDay - used : 0n;
		},
	};
}

/** Returns the minimum output that a budget's worst price allows, rounded up. Undefined without such a route. */
export function worstOutput(budget: Budget, terms: Omit<BudgetTerms, "id" | "minOutput" | "recipient">) {
	const route = findRoute(budget, terms);
	return route && mulDivUp(terms.amount, route.worstPrice.output, route.worstPrice.input);
}

/** Throws unless the budget allows such a swap, regardless of earlier spending. */
function expectAllowed(budget: Budget, terms: BudgetTerms): void {
	const { originChain, inputToken, destinationChain, recipient, amount, minOutput } = terms;
	const spend = findSpend(budget, { chainId: originChain, token: inputToken });
	if (!findRoute(budget, terms) || !spend) {
		throw refused(
			"route",
			"the budget does not allow this token to become that one. Choose a pair that it lists",
		);
	}
	const isRecipient = budget.recipients.some((one) => isSame(destinationChain, one, recipient));
	if (!isRecipient) {
		throw refused(
			"recipient",
			`the budget does not allow the recipient ${recipient}. Choose one that it lists`,
			{ recipient },
		);
	}
	if (amount <= 0n || amount > spend.perSwap) {
		throw refused(
			"perSwap",
			`the amount is ${amount}, and the budget allows 1 to ${spend.perSwap} in one swap`,
			{ chainId: originChain, token: inputToken, amount: String(amount), perSwap: String(spend.perSwap) },
		);
	}
	const worst = worstOutput(budget, terms);
	if (worst === undefined || minOutput < worst) {
		throw refused(
			"worstPrice",
			`the least output would be ${minOutput}, and the budget's worst price makes it ${worst}`,
			{
				chainId: destinationChain,
				token: terms.outputToken,
				minOutput: String(minOutput),
				worst: String(worst),
			},
		);
	}
}

function expectWithinDay(budget: Budget, entries: readonly Reservation[], terms: BudgetTerms): void {
	const asset = { chainId: terms.originChain, token: terms.inputToken };
	const perDay = findSpend(budget, asset)?.perDay ?? 0n;
	const others = entries.filter(({ id }) => id !== terms.id);
	const used = usedOf(others, asset);
	if (used + terms.amount <= perDay) return;
	throw refused(
		"perDay",
		`${used} of the ${perDay} that the budget allows in 24 hours are used, and ${terms.amount} are requested. Swap less, or wait`,
		{ ...asset, amount: String(terms.amount), used: String(used), perDay: String(perDay) },
	);
}

function usedOf(entries: readonly Reservation[], { chainId, token }: BudgetAsset): bigint {
	return entries
		.filter((entry) => entry.chainId === chainId && isSame(chainId, entry.token, token))
		.reduce((sum, { amount }) => sum + amount, 0n);
}

function findSpend({ spend }: Budget, { chainId, token }: BudgetAsset) {
	return spend.find((one) => one.chainId === chainId && isSame(chainId, one.token, token));
}

function findRoute(
	{ routes }: Budget,
	terms: Pick<BudgetTerms, "originChain" | "inputToken" | "destinationChain" | "outputToken">,
) {
	const { originChain, inputToken, destinationChain, outputToken } = terms;
	return routes.find(
		({ from, to }) =>
			from.chainId === originChain &&
			to.chainId === destinationChain &&
			isSame(originChain, from.token, inputToken) &&
			isSame(destinationChain, to.token, outputToken),
	);
}

/** Returns the entries that count. If the clock was set back, an entry's time may be in the future; it counts too. */
function current(entries: readonly Reservation[], nowMs: number): Reservation[] {
	return entries.filter(({ atMs }) => nowMs - atMs < dayMs);
}

async function lock(store: SwapStore, nowMs: () => number): Promise<() => Promise<void>> {
	const untilMs = nowMs() + lockPatienceMs;
	for (;;) {
		const unlock = await store.lock(ledgerId);
		if (unlock) return unlock;
		if (nowMs() > untilMs) {
			throw refused("ledger", "another process holds the record of what was spent. Try again later");
		}
		await sleep(lockPauseMs);
	}
}

function formatLedger(entries: readonly Reservation[]): string {
	const written = entries.map((entry) => ({ ...entry, amount: String(entry.amount) }));
	return JSON.stringify({ version, entries: written });
}

/** Throws if the text is not a ledger. The amount spent is then unknown, so nothing may be spent. */
function parseLedger(text: string | undefined): Reservation[] {
	if (text === undefined) return [];
	try {
		const ledger = JSON.parse(text) as { version: number; entries: Record<string, unknown>[] };
		if (ledger.version !== version) throw new TypeError("another version");
		return ledger.entries.map(({ id, chainId, token, amount, atMs, receipt }) => {
			const isEntry = [id, token, amount, receipt].every((field) => typeof field === "string");
			if (!isEntry || !Number.isInteger(chainId) || !Number.isFinite(atMs)) throw new TypeError("no entry");
			return { id, chainId, token, atMs, receipt, amount: BigInt(amount as string) } as Reservation;
		});
	} catch {
		throw refused(
			"ledger",
			"the record of what was spent cannot be read. Restore it by hand, or remove it and accept that it begins anew",
		);
	}
}

function spelled(chainId: number, address: string): string {
	return isSolana(chainId) ? address : address.toLowerCase();
}

function isSame(chainId: number, one: string, other: string): boolean {
	return spelled(chainId, one) === spelled(chainId, other);
}

/** Returns the error of a limit. Amounts in the details are smallest units of the token in the details. */
function refused(
	limit: BudgetLimit,
	why: string,
	details: Record<string, string | number> = {},
): GeoswapError {
	const isPassing = limit === "perDay" || limit === "ledger";
	return new GeoswapError(`Nothing was signed: ${why}.`, {
		code: "BUDGET_REFUSED",
		next: isPassing ? "retry" : "fix_request",
		retryable: isPassing,
		docs: "/docs/sdk.md",
		details: { limit, ...details },
	});
}
