import { expect, test } from "vitest";
import { type ModelOptions, ModelWorld } from "../../test/swap/model-world.ts";
import { sequence } from "../../test/swap/sequence.ts";
import { decide } from "../swap/decide/decide.ts";
import type { Decision } from "../swap/decide/decision.ts";
import type { NextWait } from "../swap/due/write-waits.ts";
import { afterPause, permitAll } from "./decide-swap.ts";
import { planChanges } from "./plan-changes.ts";

const blockSeconds = 12;

/** A swap that has a round only when its wait is over, or when something happened to it. */
class Waiting {
	readonly world: ModelWorld;
	readonly facts: string[] = [];
	private next: NextWait | undefined;
	private lookedAtMs = 0;
	private seen = "";

	constructor(options: Partial<ModelOptions>) {
		this.world = new ModelWorld({
			isCrossChain: true,
			origin: "evm",
			destination: "evm",
			hostileSeconds: 0,
			random: sequence(1),
			blockSeconds,
			...options,
		});
	}

	decide(): Decision {
		const { facts, policy, nowSeconds } = this.world;
		return decide(facts, policy, nowSeconds * 1_000);
	}

	get isDue(): boolean {
		const { next, world } = this;
		if (!next || this.happened() !== this.seen) return true;
		const heads = [world.facts.origin, world.facts.destination];
		const { head, finalized } = next.wait;
		return (
			world.nowSeconds * 1_000 >= this.lookedAtMs + next.dueMs ||
			heads.some(({ chainId, number }) => chainId === head?.chainId && number >= head.number) ||
			heads.some(
				({ chainId, finalizedNumber }) =>
					chainId === finalized?.chainId && finalizedNumber >= finalized.number,
			)
		);
	}

	/** Decides and applies as a round does, until nothing is left to do immediately. */
	look(): void {
		for (let rounds = 0; rounds < 10; rounds++) {
			const decision = this.decide();
			const { facts } = this.world;
			const { next } = planChanges(
				permitAll({
					swap: facts.swap,
					facts,
					turn: 0,
					isExposed: false,
					isUnfinalExposed: false,
					decision: afterPause(decision, facts),
					wait: {
						mark: 0,
						fact: this.facts.at(-1),
						idleRounds: this.next?.idleRounds ?? 0,
						ask: undefined,
						second: undefined,
					},
				}),
			);
			this.world.apply(decision);
			if (this.facts.at(-1) !== decision.fact) this.facts.push(decision.fact);
			this.next = next;
			this.lookedAtMs = this.world.nowSeconds * 1_000;
			this.seen = this.happened();
			if (this.world.isEnded || next?.dueMs !== 0) return;
		}
		throw new Error("it never comes to rest");
	}

	/** Returns the facts that mark a swap: an event that came or went, and a job that will not be done. */
	private happened(): string {
		const { events, jobs } = this.world.facts;
		const refused = Object.entries(jobs).filter(([, { state }]) => state === "refused");
		return JSON.stringify([
			Object.values(events).map(({ name, transactionHash }) => [name, transactionHash]),
			refused.map(([kind]) => kind),
		]);
	}
}

const never = (world: ModelWorld, kind: "open" | "fill") => {
	const job = world.facts.jobs[kind];
	if (job) Object.assign(job, { state: "refused", reason: kind === "fill" ? "price" : "reverted" });
};
const silent = (world: ModelWorld) => {
	const alive = { get: () => 1, set: () => {}, configurable: true };
	Object.defineProperty(world.facts, "attestersAlive", alive);
};
const undeposited = (world: ModelWorld) => {
	if (!world.has("Filled")) return;
	world.events = world.events.filter(({ name }) => name !== "Opened");
	delete world.facts.events.Opened;
	never(world, "open");
};

/** Worlds, each with what it does every second and the fact that its swap ends with. */
const worlds: Record<string, { act: (world: ModelWorld) => void; comesTo: string }> = {
	"that nothing disturbs": { act: () => {}, comesTo: "released" },
	"whose order is never opened": { act: (world) => never(world, "open"), comesTo: "not-opened" },
	"whose fill is refused": { act: (world) => never(world, "fill"), comesTo: "refund-final" },
	"whose attesters are gone permanently": { act: silent, comesTo: "refund-final" },
	"whose deposit was dropped permanently after its delivery": {
		act: undeposited,
		comesTo: "delivered-unopened",
	},
};

test.each(Object.entries(worlds))(
	"a swap %s is due in every second in which it could make progress",
	(_, { act, comesTo }) => {
		for (const isCrossChain of [true, false]) {
			if (!isCrossChain && (act === undeposited || act === silent)) continue;
			for (let firstBlockSeconds = 0; firstBlockSeconds < blockSeconds; firstBlockSeconds++) {
				const swap = new Waiting({ isCrossChain, firstBlockSeconds });
				const { world } = swap;
				for (let seconds = 0; seconds < 900 && !world.isEnded; seconds++) {
					act(world);
					if (swap.isDue) swap.look();
					else {
						const { fact, actions, isEnd } = swap.decide();
						const missed = isEnd || actions.length > 0 ? { fact, actions, seconds, firstBlockSeconds } : {};
						expect(missed).toEqual({});
					}
					world.tick();
				}
				expect(world.isEnded).toBe(true);
				if (isCrossChain) expect(swap.facts.at(-1)).toBe(comesTo);
			}
		}
	},
);
