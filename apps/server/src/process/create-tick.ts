import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { PokeTarget } from "../durable/engine.ts";
import { laneTarget, roundTarget } from "../durable/poke-targets.ts";
import type { SkippingEngine, TrackedHandlers } from "../durable/serve-durable.ts";
import type { Log } from "../telemetry/log.ts";
import type { Due, DueWork } from "./due-work.ts";

/** How long something may be due before a worker does it itself. A poke takes about ten milliseconds. */
export const overdueMs = 2_000;
/** Ticks between two checks of transactions that are not mined, in addition to the check at each block. */
const stuckEvery = 5;

/**
 * The relayers of a chain. If `isAnyGood`, any of them can send a job. Otherwise each sends only jobs that name it.
 */
export type ChainLanes = { chainId: number; relayers: readonly Hex[]; isAnyGood: boolean };

/**
 * Creates the tick, which is the only repair path. It repairs a lost poke, an engine that does not answer, and a
 * worker that died in the middle of a handler, behind which the engine holds back every other handler of that key.
 * Each call pokes what is due, and runs here what has been due for two seconds, or is due again after it had been.
 * Several workers may run the same handler concurrently, as may the engine, because rows of the store fence what
 * handlers write.
 */
export function createTick({
	readDue,
	lanes,
	engine,
	handlers: { handlers, isRunning },
	onRunHere,
	nowMs,
	log,
}: {
	readDue: () => Promise<DueWork>;
	lanes: readonly ChainLanes[];
	/** Its pokes must not throw. */
	engine: SkippingEngine;
	handlers: Pick<TrackedHandlers, "handlers" | "isRunning">;
	onRunHere?: ((object: PokeTarget["object"]) => void) | undefined;
	nowMs: () => Milliseconds;
	log: Log;
}): () => Promise<void> {
	let turn = 0;
	/** The time since which each chain has had cross-checks to make. */
	let askedSince = new Map<number, number>();

	async function runHere(target: PokeTarget): Promise<void> {
		onRunHere?.(target.object);
		try {
			await handlers[target.object](target.key);
			log.info(target, "overdue work was done by this worker's tick");
		} catch (error) {
			log.warn({ ...target, err: error }, "overdue work failed in this worker's tick; retrying");
		}
	}

	/** Pokes or runs a handler without waiting, because one that hangs must not keep the next tick from the others. */
	function see(due: Due, target: PokeTarget, overdue: PokeTarget[]): void {
		if (due === "no") return;
		if (due === "due" && !engine.isOverdue(target)) void engine.poke(target);
		else if (!isRunning(target)) {
			if (due === "overdue") overdue.push(target);
			void runHere(target);
		}
	}

	return async () => {
		turn++;
		const { round, chains } = await readDue();
		/** Handlers that run here now are excluded, because they have more work than they can do, and do not hang. */
		const overdue: PokeTarget[] = [];
		see(round, roundTarget, overdue);
		const now = nowMs();
		const asked = chains.filter(({ hasQuestions }) => hasQuestions);
		askedSince = new Map(asked.map(({ chainId }) => [chainId, askedSince.get(chainId) ?? now]));
		for (const [chainId, since] of askedSince) {
			const target: PokeTarget = { object: "crossCheck", key: String(chainId) };
			see(now - since < overdueMs ? "due" : "overdue", target, overdue);
		}
		for (const { chainId, jobs, attestations, stuckRelayers } of chains) {
			see(attestations, { object: "attestation", key: String(chainId) }, overdue);
			const { relayers = [], isAnyGood = false } = lanes.find((one) => one.chainId === chainId) ?? {};
			for (const [i, relayer] of relayers.entries()) {
				const isAsked = !isAnyGood || i === turn % relayers.length;
				const isStuck = stuckRelayers.includes(relayer.toLowerCase() as Hex) && turn % stuckEvery === 0;
				const target = laneTarget({ chainId, relayer });
				if (!isStuck) see(isAsked ? jobs : "no", target, overdue);
				else if (!isRunning(target)) void runHere(target);
			}
		}
		engine.setOverdue(overdue);
	};
}
