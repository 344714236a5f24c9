import fc from "fast-check";
import { expect, test } from "vitest";
import { ModelWorld, modelDeadlines, modelPolicy } from "../../test/model-world.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";

/** A sequence of numbers that a seed gives. */
function sequence(seed: number): () => number {
	let state = seed | 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}

function newWorld({ seed = 1, isCrossChain = true, hostileSeconds = 0 }): ModelWorld {
	return new ModelWorld({ isCrossChain, random: sequence(seed), hostileSeconds });
}

/** Decides and applies until there is nothing to do at once; `check` sees every decision before it is applied. */
function settleRounds(world: ModelWorld, check: (decision: Decision) => void = () => {}): string {
	for (let round = 0; round < 10; round++) {
		const decision = decide(world.facts, modelPolicy, world.nowSeconds * 1_000);
		check(decision);
		world.apply(decision);
		if (!decision.isEnd && decision.timeoutMs === 0) continue;
		const { swap, events, jobs } = world.facts;
		const mayFill = events.Opened !== undefined || swap.status !== "pending";
		if (jobs.fill?.state === "queued") expect(mayFill).toBe(true);
		return decision.fact;
	}
	throw new Error("it never comes to rest");
}

function runToEnd(world: ModelWorld, check?: (decision: Decision) => void): string[] {
	const facts: string[] = [];
	for (let seconds = 0; seconds < 600; seconds++) {
		const fact = settleRounds(world, check);
		if (facts.at(-1) !== fact) facts.push(fact);
		if (world.isEnded) return facts;
		world.tick();
	}
	throw new Error(`it never ends: ${facts.join(", ")}`);
}

test("a swap that nothing disturbs is settled and ends once its release is final", () => {
	const world = newWorld({});
	expect(runToEnd(world)).toEqual([
		"opening",
		"deposited",
		"delivering",
		"delivered",
		"delivery-final",
		"released",
	]);
	expect(world.facts.swap).toMatchObject({ status: "settled", deliveredAmount: 100n });
	expect(world.facts.isReserved).toBe(false);
});

test("on one chain it ends once the fill is final", () => {
	const world = newWorld({ isCrossChain: false });
	expect(runToEnd(world).at(-1)).toBe("delivery-final");
	expect(world.facts.swap.status).toBe("settled");
});

test("nothing is filled while too few attesters are alive, and then it is refunded", () => {
	const world = newWorld({});
	Object.defineProperty(world.facts, "attestersAlive", { get: () => 1, set: () => {} });
	const facts: string[] = [];
	for (let seconds = 0; seconds < 300 && !world.isEnded; seconds++) {
		facts.push(settleRounds(world));
		expect(world.facts.jobs.fill).toBeUndefined();
		world.tick();
	}
	expect(facts).toContain("attesters-silent");
	// Nobody attests either: it takes until anyone may refund.
	expect(world.facts.swap).toMatchObject({ status: "refunded", givingUp: "TOO_LATE" });
	expect(world.nowSeconds).toBeGreaterThan(modelDeadlines.refund);
});

test("a refund that is only a credit is not called refunded until it is claimed", () => {
	const world = newWorld({});
	for (let seconds = 0; seconds < 300; seconds++) {
		if (world.has("Opened")) world.facts.swap.givingUp = "NO_LIQUIDITY";
		settleRounds(world);
		world.tick();
		for (const event of world.events) if (event.name === "Refunded") event.data.paid = false;
		expect(world.facts.swap.status).toBe("pending");
	}
	expect(world.has("Refunded")).toBe(true);
	expect(settleRounds(world)).toBe("refund-credited");
	world.facts.claimed = { blockNumber: world.facts.origin.number, transactionHash: "0xc1a1" };
	expect(runToEnd(world).at(-1)).toBe("refund-final");
	expect(world.facts.swap).toMatchObject({ status: "refunded", refundTxHash: "0xc1a1" });
});

test("no void is queued while a fill that was signed may still land", () => {
	const world = newWorld({});
	while (world.facts.jobs.fill?.state !== "sent") {
		settleRounds(world);
		world.tick();
	}
	world.facts.swap.givingUp = "TOO_LATE";
	expect(settleRounds(world)).toBe("fill-undecided");
	expect(world.facts.jobs.void).toBeUndefined();
	expect(runToEnd(world)).toContain("released");
	expect(world.facts.swap.status).toBe("settled");
});

test("an output that was delivered is settled, even where the input was refunded too", () => {
	const world = newWorld({});
	while (!world.has("Filled")) {
		settleRounds(world);
		world.tick();
	}
	const [opened] = world.events;
	world.events.push({ ...opened, name: "Refunded", data: { paid: true } } as (typeof world.events)[0]);
	world.tick();
	expect(runToEnd(world).at(-1)).toBe("delivered-and-refunded");
	expect(world.facts.swap.status).toBe("settled");
});

test("a settled delivery that its chain dropped is made again as it was made before", () => {
	const world = newWorld({});
	const delivery = { kind: "router", budget: 90n, fees: [500] } as const;
	world.facts.swap.delivery = { ...delivery, fees: [500] };
	while (world.facts.swap.status !== "settled") {
		settleRounds(world);
		world.tick();
	}
	expect(world.isFinal("Filled")).toBe(false);
	world.events = world.events.filter((event) => event.name !== "Filled");
	world.facts.events = { Opened: world.facts.events.Opened } as typeof world.facts.events;
	const { actions } = decide(world.facts, modelPolicy, world.nowSeconds * 1_000);
	expect(actions).toEqual([]);
	Object.assign(world.facts.jobs, { fill: { ...world.facts.jobs.fill, state: "refused", reason: "price" } });
	const again = decide(world.facts, modelPolicy, world.nowSeconds * 1_000);
	expect(again.actions).toEqual([{ do: "queue", kind: "fill", delivery, again: true }]);
});

test.each(["origin", "destination"] as const)(
	"nothing is delivered while the %s chain stands still",
	(chain) => {
		const world = newWorld({});
		while (!world.has("Opened")) {
			settleRounds(world);
			world.tick();
		}
		world.tick();
		world.facts[chain].timestamp -= 61;
		const { fact, actions, wait } = decide(world.facts, modelPolicy, world.nowSeconds * 1_000);
		expect(fact).toBe(`${chain}-stale`);
		expect(actions.filter((action) => action.do === "queue")).toEqual([]);
		expect(wait.head).toEqual({ chainId: world.facts[chain].chainId, number: world.facts[chain].number + 1 });
		world.facts[chain].timestamp += 1;
		expect(decide(world.facts, modelPolicy, world.nowSeconds * 1_000).fact).toBe("delivering");
	},
);

test("a follower that is behind decides nothing", () => {
	const world = newWorld({});
	world.facts.origin.finalizedNumber = world.facts.origin.number + 1;
	world.facts.origin.finalizedTimestamp = modelDeadlines.open + 1;
	expect(decide(world.facts, modelPolicy, world.nowSeconds * 1_000)).toMatchObject({
		fact: "chain-behind",
		actions: [],
		isEnd: false,
	});
});

test("whatever the chains, lanes and attesters do, it ends, and no rule of money is broken", () => {
	const outcomes: Record<string, number> = {};
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 2 ** 31 - 1 }),
			fc.boolean(),
			fc.integer({ min: 0, max: 220 }),
			(seed, isCrossChain, hostileSeconds) => {
				const world = newWorld({ seed, isCrossChain, hostileSeconds });
				runToEnd(world, (decision) => checkDecision(world, decision));
				const { swap, isReserved } = world.facts;
				outcomes[swap.status] = (outcomes[swap.status] ?? 0) + 1;
				expect(swap.status).not.toBe("pending");
				expect(isReserved).toBe(false);
				if (swap.status === "failed") expect(world.has("Opened")).toBe(false);
				if (swap.status === "refunded") {
					expect(swap.givingUp).toBeDefined();
					expect(world.has("Refunded") || !world.has("Opened")).toBe(true);
				}
				// The caller has the output or the input, always.
				expect(world.has("Filled") || world.has("Refunded") || !world.has("Opened")).toBe(true);
				if (world.has("Released")) expect(world.isFinal("Filled")).toBe(true);
			},
		),
		{ numRuns: 1_000 },
	);
	expect(Object.keys(outcomes).toSorted()).toEqual(["failed", "refunded", "settled"]);
});

function checkDecision(world: ModelWorld, { actions }: Decision): void {
	const { events, origin, destination, jobs, swap } = world.facts;
	const queues = (kind: string) => actions.some((action) => action.do === "queue" && action.kind === kind);
	const moves = actions.flatMap((action) => (action.do === "advance" ? action.path : []));
	if (queues("void")) {
		expect(queues("fill")).toBe(false);
		expect(["queued", "sent", "done"]).not.toContain(jobs.fill?.state);
	}
	if (queues("fill")) {
		expect(world.nowSeconds).toBeLessThan(modelDeadlines.fill - modelPolicy.destination.finalitySeconds);
		if (swap.status === "pending") expect(events.Opened?.blockNumber).toBeLessThan(origin.number);
		expect(jobs.void).toBeUndefined();
		expect(swap.givingUp).toBeUndefined();
		expect(events.Voided).toBeUndefined();
	}
	if (queues("release")) {
		expect(events.Filled?.blockNumber).toBeLessThanOrEqual(destination.finalizedNumber);
	}
	if (queues("refund")) {
		const isVoid = events.Voided && events.Voided.blockNumber <= destination.finalizedNumber;
		expect(events.Filled).toBeUndefined();
		expect(isVoid || destination.finalizedTimestamp >= modelDeadlines.fill).toBe(true);
	}
	if (moves.includes("settled")) expect(events.Filled).toBeDefined();
	if (moves.includes("refunded")) {
		expect(events.Refunded?.data.paid).toBe(true);
		expect(events.Filled).toBeUndefined();
	}
	if (moves.includes("failed")) {
		expect(events.Opened).toBeUndefined();
		expect(origin.finalizedTimestamp).toBeGreaterThan(modelDeadlines.open);
	}
}
