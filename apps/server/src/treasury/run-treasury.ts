import type { Milliseconds } from "@geoswap/protocol";
import type { TreasuryReading } from "../chain/evm/read/read-treasury.ts";
import type { Config } from "../config/config.ts";
import type { DatabasePool } from "../database/database.ts";
import { holdLeadership, type UntilBeat } from "../database/leadership.ts";
import type { PriceCache } from "../desk/price/price-cache.ts";
import type { Log } from "../telemetry/log.ts";
import { type AdvanceDeps, advanceMoves } from "./advance-moves.ts";
import { plan } from "./plan.ts";
import { queuePlan } from "./queue-plan.ts";
import { readTreasuryState } from "./read-treasury-state.ts";
import { clearNeeds, type StoredPlan, savePlan, toStoredPlan } from "./stored-plan.ts";

/** How long the first plan waits for the prices of all chains, which a process that just started does not have. */
const pricesWithinMs = 30_000;
const lookEveryMs = 1_000;

export type TreasuryDeps = {
	pool: DatabasePool;
	config: Pick<Config, "chains" | "price" | "treasury">;
	priceCache: PriceCache;
	/** Requests prices of these chains. */
	wantPrices: (chainIds: readonly number[]) => Promise<void>;
	/** Reads caps and relayers of an EVM chain. */
	readChain: (chainId: number) => Promise<TreasuryReading>;
	/** Returns the connection to an EVM chain; undefined if it is not configured. */
	chainOf: AdvanceDeps["chainOf"];
	pokeTreasurer: AdvanceDeps["pokeTreasurer"];
	nowMs: () => Milliseconds;
	log: Log;
};

/**
 * Plans the moves of the inventory every `planSeconds`, in one worker at a time, until the signal aborts. Returns if
 * another worker does it. With the mode `act` it queues the planned moves. In every mode it follows those that are open
 * to their end, because what is between two chains must arrive. With the mode `off` it plans nothing, and removes what
 * an earlier plan wrote.
 */
export async function runTreasury({
	wait,
	untilBeat,
	signal,
	...deps
}: TreasuryDeps & {
	wait: (ms: Milliseconds) => Promise<void>;
	untilBeat?: UntilBeat;
	signal: AbortSignal;
}): Promise<void> {
	const { config, priceCache, wantPrices, nowMs, pool } = deps;
	const chainIds = config.chains.map(({ chainId }) => chainId);
	const isStopped = (isHeld: () => boolean) => signal.aborted || !isHeld();
	await holdLeadership(pool, { name: "treasury", ...(untilBeat && { untilBeat }) }, async (isHeld) => {
		const { mode, iris, planSeconds } = config.treasury;
		if (mode === "off") await clearNeeds(pool);
		else {
			const untilMs = nowMs() + pricesWithinMs;
			const isReady = () => chainIds.every((chainId) => priceCache.isReady(chainId, { nowMs: nowMs() }));
			while (!isStopped(isHeld) && !isReady() && nowMs() < untilMs) {
				await wantPrices(chainIds);
				await wait(lookEveryMs);
			}
		}
		let planAtMs = mode === "off" ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
		while (!isStopped(isHeld)) {
			if (nowMs() >= planAtMs) {
				planAtMs = nowMs() + planSeconds * 1_000;
				await wantPrices(chainIds);
				await planOnce(deps);
			}
			await advanceMoves({ ...deps, iris });
			await wait(lookEveryMs);
		}
	});
}

/** Makes one plan of what can be read now, and stores it. With the mode `act` it also queues the moves. */
export async function planOnce({
	pool,
	config,
	priceCache,
	readChain,
	nowMs,
	log,
}: Omit<TreasuryDeps, "wantPrices" | "chainOf" | "pokeTreasurer">): Promise<StoredPlan> {
	const { policy, mode } = config.treasury;
	const atMs = nowMs();
	const { state, held } = await readTreasuryState({ pool, config, priceCache, readChain, nowMs: atMs });
	const planned = plan(state, policy);
	const stored = toStoredPlan(planned, { state, held, policy });
	await savePlan(pool, { plan: stored, nowMs: atMs });
	const { moves } = planned;
	const queued = mode === "act" ? await queuePlan(pool, { moves, config, nowMs: atMs }) : [];
	log.info(
		{ moves: moves.length, queued: queued.length, reasons: stored.reasons.length },
		"the treasury's moves are planned",
	);
	return stored;
}
