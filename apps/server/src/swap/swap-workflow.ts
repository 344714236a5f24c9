import type { Address } from "viem";
import type { Config } from "../config.ts";
import type { Durable, SwapExecution } from "../durable/durable.ts";
import type { Log } from "../log.ts";
import { IllegalMoveError } from "../store/advance-swap.ts";
import type { DatabasePool } from "../store/database.ts";
import { look } from "../store/look.ts";
import { applyDecision, type Poke } from "./apply-decision.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";
import { attesterSetOf, swapPolicy } from "./swap-policy.ts";

/** `nowMs` was remembered by the engine: what is made of it is the same when an execution is replayed. */
export type PokeChain = (
	durable: Pick<Durable, "poke">,
	options: { chainId: number; nowMs: number },
) => Promise<void>;

export type SwapWorkflowOptions = {
	config: Pick<Config, "chains" | "deployment" | "limits" | "heartbeatSeconds">;
	pool: DatabasePool;
	pokeLanes: PokeChain;
	pokeAttestation: PokeChain;
	nowMs: () => number;
	log: Log;
};

/** How soon to look again where it cannot be said yet what to do. */
const blindMs = 10_000;
const longestWaitMs = 600_000;

/**
 * Key: the swap's UUID. One execution per swap is the narrowest that serialises what is written to its row, and swaps
 * never wait for one another.
 */
export function createSwapWorkflow(options: SwapWorkflowOptions): SwapExecution {
	return async (durable, swapId) => {
		let before: Decision | undefined;
		let idleRounds = 0;
		while (true) {
			const signal = await durable.newSignal();
			const decision = await durable.step("looked", () => lookAndDecide(options, swapId, signal.id));
			if (decision === "no-swap") return;
			if (decision.pauseMs > 0) await durable.sleep(decision.pauseMs);
			let isDue = false;
			idleRounds = decision.fact === before?.fact ? idleRounds + 1 : 0;
			if (isNews(decision, before)) {
				const applied = await durable.step(decision.fact, () => apply(options, swapId, decision));
				if (applied === "illegal") {
					await durable.sleep(blindMs);
					continue;
				}
				for (const poke of applied.pokes) await tell(durable, options, poke, applied.nowMs);
				isDue = applied.isDue;
			}
			if (decision.isEnd) return;
			before = decision;
			if (!isDue && decision.timeoutMs > 0) await signal.wait(waitMs(decision, idleRounds));
		}
	};
}

async function lookAndDecide(
	{ config, pool, nowMs: clock, log }: SwapWorkflowOptions,
	swapId: string,
	signalId: string,
): Promise<Decision | "no-swap"> {
	const nowMs = clock();
	const facts = await look(pool, {
		swapId,
		signalId,
		heartbeatSeconds: config.heartbeatSeconds,
		attestersOf: (order) => attesterSetOf(config, order.attesterSet)?.attesters ?? [],
		nowMs,
	});
	if (facts === "no-swap") {
		log.error({ swapId }, "a workflow was started for a swap that has no row");
		return facts;
	}
	if (facts === "unfollowed") return blind("chain-unfollowed");
	const policy = swapPolicy(config, facts.swap.order);
	if (!policy) {
		log.error({ swapId }, "a swap is on a chain that is not configured");
		return blind("chain-unconfigured");
	}
	return decide(facts, policy, nowMs);
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
	{ config, pool, nowMs: clock, log }: SwapWorkflowOptions,
	swapId: string,
	decision: Decision,
): Promise<{ pokes: Poke[]; isDue: boolean; nowMs: number } | "illegal"> {
	const settlementTokenOf = (chainId: number): Address | undefined =>
		config.chains.find((chain) => chain.chainId === chainId)?.deployment.settlementToken;
	try {
		const applied = await applyDecision(pool, { swapId, decision, settlementTokenOf, nowMs: clock() });
		log.info({ swapId, actions: decision.actions.map((action) => action.do) }, decision.fact);
		// Later than what was queued: a lane that is told of it finds it.
		return { ...applied, nowMs: clock() };
	} catch (error) {
		if (!(error instanceof IllegalMoveError)) throw error;
		log.error({ swapId, fact: decision.fact }, error.message);
		return "illegal";
	}
}

async function tell(
	durable: Durable,
	{ pokeLanes, pokeAttestation }: SwapWorkflowOptions,
	{ who, chainId }: Poke,
	nowMs: number,
): Promise<void> {
	await (who === "lanes" ? pokeLanes : pokeAttestation)(durable, { chainId, nowMs });
}
