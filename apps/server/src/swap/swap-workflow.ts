import type { PreparedPoke, SwapExecution } from "../durable/durable.ts";
import type { Log } from "../log.ts";
import { IllegalMoveError } from "../store/advance-swap.ts";
import type { DatabasePool } from "../store/database.ts";
import type { Facts } from "../store/facts.ts";
import { look } from "../store/look.ts";
import { passSwapOn } from "../store/pass-swap-on.ts";
import { applyDecision, type DecisionDesk, type Hold, type Poke } from "./apply-decision.ts";
import { askSecondProvider, type SecondAnswer } from "./ask-second-provider.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import type { SecondProviders } from "./second-providers.ts";
import { attestersWanted, type PolicyConfig, swapPolicy } from "./swap-policy.ts";
import { type SwapObserver, tellApplied } from "./tell-applied.ts";

/** What to send to whoever works for a chain; nothing where nobody does. */
export type ChainPoke = (options: { chainId: number; nowMs: number }) => PreparedPoke[];

export type SwapWorkflowOptions = SwapObserver & {
	config: PolicyConfig;
	pool: DatabasePool;
	desk: DecisionDesk;
	lanePoke: ChainPoke;
	attestationPoke: ChainPoke;
	/** Absent where no chain has one. */
	secondProviders?: SecondProviders | undefined;
	/** How often one execution may look. */
	mostRounds?: number;
	nowMs: () => number;
	log: Log;
};

/** How soon to look again where it cannot be said yet what to do. */
const blindMs = 10_000;
const longestWaitMs = 600_000;
/**
 * The engine goes through all rounds again to start another. After so many this execution ends, and the sweep starts
 * the next one, which goes on from the facts. The same one could not start before the engine has forgotten it.
 */
const mostRoundsOfOne = 1_000;
/** Nobody wakes a swap when there is room again, or a price. */
const heldMs = 2_000;

/**
 * Key: the swap's UUID, and a number where another version took over. One execution per swap is the narrowest that
 * serialises what is written to its row, and swaps never wait for one another. Where a later one takes over, the earlier
 * finds it in the store, and ends.
 */
export function createSwapWorkflow(options: SwapWorkflowOptions): SwapExecution {
	const { mostRounds = mostRoundsOfOne } = options;
	return async (durable, swapId, execution = 0) => {
		let before: Decision | undefined;
		let idleRounds = 0;
		let second: SecondAnswer | undefined;
		// Whoever was ended may not have told of what it queued.
		let wasSilent = execution > 0;
		for (let round = 0; round < mostRounds; round++) {
			const signal = await durable.newSignal();
			const looked = await durable.step("looked", () =>
				lookAndDecide(options, { swapId, execution, signalId: signal.id, second }),
			);
			if (looked === "no-swap" || looked === "over") return;
			const { decision, undone } = looked;
			if (decision.pauseMs > 0) await durable.sleep(decision.pauseMs);
			let isDue = false;
			idleRounds = decision.fact === before?.fact ? idleRounds + 1 : 0;
			if (isNews(decision, before)) {
				const applied = await durable.step(decision.fact, () =>
					apply(options, { swapId, signalId: signal.id, decision }),
				);
				if (applied === "illegal") {
					await durable.sleep(blindMs);
					continue;
				}
				for (const { target, options: how } of applied.pokes) await durable.poke(target, how);
				isDue = applied.isDue;
				if (applied.heldBy) {
					before = decision;
					await signal.wait(waitMs({ ...decision, timeoutMs: heldMs }, idleRounds));
					continue;
				}
			}
			if (decision.isEnd && !isDue) return;
			const { depositToSee: deposit } = decision;
			if (deposit && !isDue) {
				const about = { swapId, deposit, before: second };
				second = await durable.step("second-provider-asked", () => askSecondProvider(options, about));
				if (second.word === "agrees") {
					before = decision;
					continue;
				}
			}
			// Else each block tells them; on a chain without traffic there may be none until they act.
			if (wasSilent) for (const { target, options: how } of undone) await durable.poke(target, how);
			before = decision;
			const isOver = isDue || decision.timeoutMs === 0;
			wasSilent = !isOver && (await signal.wait(waitMs(decision, idleRounds))) === "timeout";
		}
		await durable.step("passed-on", () => passSwapOn(options.pool, { swapId, execution }));
	};
}

type Looked = { decision: Decision; undone: PreparedPoke[] };

async function lookAndDecide(
	options: SwapWorkflowOptions,
	{
		swapId,
		execution,
		signalId,
		second,
	}: { swapId: string; execution: number; signalId: string; second: SecondAnswer | undefined },
): Promise<Looked | "no-swap" | "over"> {
	const { config, pool, log } = options;
	const nowMs = options.nowMs();
	const facts = await look(pool, {
		swapId,
		execution,
		signalId,
		attestersOf: (order) => attestersWanted(config, order),
		nowMs,
	});
	if (facts === "no-swap") {
		log.error({ swapId }, "a workflow was started for a swap that has no row");
		return facts;
	}
	if (facts === "over") return facts;
	if (facts === "unfollowed") return { decision: blind("chain-unfollowed"), undone: [] };
	const policy = swapPolicy(config, facts.swap.order);
	if (!policy) {
		log.error({ swapId }, "a swap is on a chain that is not configured");
		return { decision: blind("chain-unconfigured"), undone: [] };
	}
	const undone = undoneBy(facts).flatMap((poke) => prepare(options, poke, nowMs));
	return { decision: decide({ ...facts, secondWord: second?.word }, policy, nowMs), undone };
}

/** Whom the swap's jobs wait for. */
function undoneBy({ jobs }: Facts): Poke[] {
	return Object.values(jobs).flatMap(({ state, chainId }): Poke[] => {
		if (state === "unattested") return [{ who: "attesters", chainId }];
		return state === "queued" || state === "sent" ? [{ who: "lanes", chainId }] : [];
	});
}

/** Longer and longer: the engine remembers every round, and goes through all of them to start another. */
function waitMs({ timeoutMs, momentMs = Number.POSITIVE_INFINITY }: Decision, idleRounds: number): number {
	const patienceMs = Math.min(longestWaitMs, timeoutMs * (1 + Math.floor(idleRounds / 10)));
	return Math.min(momentMs, patienceMs);
}

function blind(fact: string): Decision {
	return { fact, actions: [], wait: {}, timeoutMs: blindMs, pauseMs: 0, isEnd: false };
}

/** Where nothing changed and no block is waited for, nothing is written. */
function isNews(decision: Decision, before: Decision | undefined): boolean {
	const { fact, wait, actions, isEnd } = decision;
	return isEnd || actions.length > 0 || fact !== before?.fact || Object.keys(wait).length > 0;
}

async function apply(
	options: SwapWorkflowOptions,
	{ swapId, signalId, decision }: { swapId: string; signalId: string; decision: Decision },
): Promise<{ pokes: PreparedPoke[]; isDue: boolean; heldBy?: Hold } | "illegal"> {
	const { pool, desk, nowMs: clock, log } = options;
	const startMs = clock();
	try {
		const result = await applyDecision(pool, { swapId, signalId, decision, desk, nowMs: startMs });
		tellApplied(options, { decision, applied: result, startMs, nowMs: clock() });
		// Not for the journal.
		const { swap: _, isNews: __, moves: ___, ...applied } = result;
		const actions = decision.actions.map((action) => action.do);
		if (applied.heldBy) log.warn({ swapId, fact: decision.fact }, applied.heldBy);
		else log[isForPerson(decision) ? "error" : "info"]({ swapId, actions }, decision.fact);
		// Of a moment after what was queued: a lane that is told of it finds it.
		const nowMs = clock();
		return { ...applied, pokes: applied.pokes.flatMap((poke) => prepare(options, poke, nowMs)) };
	} catch (error) {
		if (!(error instanceof IllegalMoveError)) throw error;
		log.error({ swapId, fact: decision.fact }, error.message);
		return "illegal";
	}
}

/** The output was delivered and the input is not ours, or an input is paid back on one provider's word. */
function isForPerson({ fact, isEnd }: Decision): boolean {
	const isUneven = fact === "delivered-unopened" || fact === "released-undelivered";
	return fact === "delivered-and-refunded" || fact === "refunding-unseen" || (isUneven && isEnd);
}

function prepare(
	{ lanePoke, attestationPoke }: SwapWorkflowOptions,
	{ who, chainId }: Poke,
	nowMs: number,
): PreparedPoke[] {
	return (who === "lanes" ? lanePoke : attestationPoke)({ chainId, nowMs });
}
