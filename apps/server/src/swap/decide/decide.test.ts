import fc from "fast-check";
import { expect, test } from "vitest";
import {
	type ModelOptions,
	ModelWorld,
	maxLifeSeconds,
	modelDeadlines,
} from "../../../test/swap/model-world.ts";
import { sequence } from "../../../test/swap/sequence.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";

function newWorld({
	seed = 1,
	isCrossChain = true,
	hostileSeconds = 0,
	origin = "evm",
	destination = "evm",
}: Partial<Omit<ModelOptions, "random">> & { seed?: number }): ModelWorld {
	return new ModelWorld({ isCrossChain, origin, destination, random: sequence(seed), hostileSeconds });
}

/** Routes of a swap with Solana at one end, or at both. */
const solanaWays = {
	"from Solana": { origin: "solana" },
	"to Solana": { destination: "solana" },
	"on Solana": { origin: "solana", destination: "solana", isCrossChain: false },
} as const;

/** Decides and applies until nothing is left to do immediately; `check` gets every decision before it is applied. */
function settleRounds(world: ModelWorld, check: (decision: Decision) => void = () => {}): string {
	for (let round = 0; round < 10; round++) {
		const decision = decide(world.facts, world.policy, world.nowSeconds * 1_000);
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
	for (let seconds = 0; seconds < 900; seconds++) {
		const fact = settleRounds(world, check);
		if (facts.at(-1) !== fact) facts.push(fact);
		if (world.isEnded) return facts;
		world.tick();
	}
	throw new Error(`it never ends: ${facts.join(", ")}`);
}

test("a swap without disturbances is settled and ends once its release is final", () => {
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

test.each([
	{ what: "two blocks deep, as its value requires", cents: 5_000n, blocks: 2 },
	{ what: "final, where its value is above all depths", cents: 500_000n, blocks: 4 },
])(
	"a delivery is reported as settled once it is $what, and no block sooner [D-status-15]",
	({ cents, blocks }) => {
		const world = newWorld({});
		world.facts.swap.valueUsdCents = cents;
		world.policy.destination = { ...world.policy.destination, depths: [{ upToUsd: 1_000, blocks: 2 }] };
		for (let seconds = 0; seconds < 60 && world.facts.swap.status === "pending"; seconds++) {
			world.tick();
			settleRounds(world);
			const { swap, destination, events } = world.facts;
			const depth = events.Filled && destination.number - events.Filled.blockNumber;
			expect(swap.status).toBe(depth !== undefined && depth >= blocks ? "settled" : "pending");
		}
		expect(world.facts.swap.status).toBe("settled");
	},
);

test("a swap on one chain ends once its fill is final", () => {
	const world = newWorld({ isCrossChain: false });
	expect(runToEnd(world).at(-1)).toBe("delivery-final");
	expect(world.facts.swap.status).toBe("settled");
});

test("nothing is filled while too few attesters are alive, and the swap is then refunded", () => {
	const world = newWorld({});
	Object.defineProperty(world.facts, "attestersAlive", { get: () => 1, set: () => {} });
	const facts: string[] = [];
	for (let seconds = 0; seconds < 300 && !world.isEnded; seconds++) {
		facts.push(settleRounds(world));
		expect(world.facts.jobs.fill).toBeUndefined();
		world.tick();
	}
	expect(facts).toContain("attesters-silent");
	// The refund is not attested either, so it waits until anyone may refund.
	expect(world.facts.swap).toMatchObject({ status: "refunded", givingUp: "TOO_LATE" });
	expect(world.nowSeconds).toBeGreaterThan(modelDeadlines.refund);
});

test("a refund that is only credited is not reported as refunded until it is claimed", () => {
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

test.each([
	{ reason: "account_gone", refusal: { refusal: "recipient_account_gone" } },
	{ reason: "recipient", refusal: { refusal: "recipient_refused" } },
	// A token that is paused refuses every recipient.
	{ reason: "reverted", refusal: {} },
])(
	"a swap that could not be paid counts a refusal for its account only if the recipient caused it: $reason",
	({ reason, refusal }) => {
		const world = newWorld({ destination: "solana" });
		while (!world.facts.jobs.fill) {
			settleRounds(world);
			world.tick();
		}
		Object.assign(world.facts.jobs.fill, { state: "refused", reason });
		const { actions } = decide(world.facts, world.policy, world.nowSeconds * 1_000);
		expect(actions).toContainEqual({ do: "give-up", code: "RECIPIENT_REFUSED", ...refusal });
	},
);

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

test.each(["evm", "solana"] as const)(
	"a signed payment on a chain of kind %s counts as in flight until its deadline has passed at a final block",
	(destination) => {
		const world = newWorld({ destination });
		while (world.facts.jobs.fill?.state !== "sent") {
			settleRounds(world);
			world.tick();
		}
		const decideAt = (seconds: number, { finalized }: { finalized: number }) => {
			for (const head of [world.facts.origin, world.facts.destination]) {
				Object.assign(head, { timestamp: seconds, finalizedTimestamp: finalized });
			}
			return decide(world.facts, world.policy, seconds * 1_000);
		};
		const late = modelDeadlines.fill + 20;
		const unfinal = { finalized: modelDeadlines.fill - 1 };
		expect(decideAt(late, unfinal)).toMatchObject({ fact: "delivering" });
		world.facts.swap.givingUp = "TOO_LATE";
		expect(decideAt(late, unfinal)).toMatchObject({ fact: "fill-undecided" });
		const { fact, actions } = decideAt(late, { finalized: modelDeadlines.fill });
		expect(fact).toBe("refunding");
		expect(actions).toContainEqual({ do: "queue", kind: "refund", attested: true, again: false });
	},
);

test("a Solana payment is settled before it is final only while there is time to wait for its expiry and pay again", () => {
	const world = newWorld({ destination: "solana" });
	while (!world.has("Filled")) {
		settleRounds(world);
		world.tick();
	}
	world.facts.swap.valueUsdCents = 5_000n;
	world.facts.destination.number++;
	const { finalitySeconds } = world.policy.destination;
	const lastMoment = modelDeadlines.fill - 2 * finalitySeconds - maxLifeSeconds;
	const settlesAt = (seconds: number) =>
		decide(world.facts, world.policy, seconds * 1_000).actions.some(
			(action) => action.do === "advance" && action.path.includes("settled"),
		);
	expect(settlesAt(lastMoment)).toBe(true);
	expect(settlesAt(lastMoment + 1)).toBe(false);
});

test("a delivery that could not be repeated is settled only once it is final", () => {
	for (const lacks of [{ isReserved: false }, { givingUp: "NO_LIQUIDITY" as const }]) {
		const world = newWorld({});
		while (!world.has("Filled")) {
			settleRounds(world);
			world.tick();
		}
		world.facts.destination.number = world.facts.destination.finalizedNumber + 100;
		const settles = () =>
			decide(world.facts, world.policy, world.nowSeconds * 1_000).actions.some(
				(action) => action.do === "advance" && action.path.includes("settled"),
			);
		expect(settles()).toBe(true);
		if ("givingUp" in lacks) Object.assign(world.facts.swap, lacks);
		else Object.assign(world.facts, lacks);
		expect(settles()).toBe(false);
		world.facts.destination.finalizedNumber = world.facts.destination.number;
		expect(settles()).toBe(true);
	}
});

test.each(["evm", "solana"] as const)(
	"an order to a chain of kind %s that was never submitted is not voided, because its deadline closes it",
	(destination) => {
		const world = newWorld({ destination });
		while (!world.has("Opened")) {
			settleRounds(world);
			world.tick();
		}
		world.facts.swap.op = undefined;
		expect(decide(world.facts, world.policy, world.nowSeconds * 1_000).fact).toBe("expiring");
	},
);

test.each(["evm", "solana"] as const)(
	"a swap without a deposit from a chain of kind %s fails only once the order itself was compared at a final block past its deadline",
	(origin) => {
		const world = newWorld({ origin });
		settleRounds(world);
		const deadline = modelDeadlines.open;
		Object.assign(world.facts.origin, {
			number: deadline + 20,
			timestamp: deadline + 20,
			finalizedNumber: deadline + 10,
			finalizedTimestamp: deadline + 10,
			comparedTimestamp: deadline,
			comparedAtMs: (deadline + 20) * 1_000,
		});
		const decideNow = () => decide(world.facts, world.policy, (deadline + 20) * 1_000);
		expect(decideNow()).toMatchObject({ fact: "opening" });
		world.facts.origin.comparedTimestamp = deadline + 10;
		// The comparison cannot have included a swap that was submitted after it.
		const createdAt = world.facts.swap.createdAt;
		world.facts.swap.createdAt = new Date((deadline + 5) * 1_000);
		expect(decideNow()).toMatchObject({ fact: "opening" });
		world.facts.swap.createdAt = createdAt;
		world.facts.origin.unseenOrders = [world.facts.swap.orderId];
		expect(decideNow()).toMatchObject({ fact: "opening" });
		world.facts.origin.unseenOrders = ["0x02"];
		expect(decideNow()).toMatchObject({ fact: "not-opened", isEnd: true });
	},
);

test("a swap from Solana fails before its deadline only once its deposit cannot land, its lane has reported that, and its order was compared since", () => {
	const world = newWorld({ origin: "solana" });
	settleRounds(world);
	const { origin, swap, jobs } = world.facts;
	const lastHeight = swap.op && "kind" in swap.op ? Number(swap.op.lastValidBlockHeight) : 0;
	const nowMs = world.nowSeconds * 1_000;
	const dead = { finalizedHeight: lastHeight + 1, comparedAtMs: nowMs - 1_000, unseenOrders: [] };
	const refused = { state: "refused", reason: "expired", ageMs: 2_000 } as const;
	const decideWith = (head: Partial<typeof origin>, job: object) => {
		Object.assign(origin, dead, head);
		Object.assign(jobs.open ?? {}, refused, job);
		return decide(world.facts, world.policy, nowMs);
	};
	expect(decideWith({}, { state: "sent" })).toMatchObject({ fact: "opening", actions: [], isEnd: false });
	expect(decideWith({ finalizedHeight: lastHeight }, {})).toMatchObject({ fact: "opening", isEnd: false });
	expect(decideWith({}, { ageMs: 1_000 })).toMatchObject({ fact: "opening", isEnd: false });
	expect(decideWith({ unseenOrders: [swap.orderId] }, {})).toMatchObject({ fact: "opening", isEnd: false });
	expect(decideWith({}, {})).toMatchObject({ fact: "not-opened", isEnd: true });
});

test("a restored store that has lost the job of a deposit from Solana queues it again, and reports no failure", () => {
	const world = newWorld({ origin: "solana" });
	settleRounds(world);
	// The deposit can no longer land, as far as heights show. Only the lane knows whether it has landed.
	Object.assign(world.facts.origin, { finalizedHeight: 1_000 });
	const decideNow = () => decide(world.facts, world.policy, world.nowSeconds * 1_000);
	Object.assign(world.facts.jobs.open ?? {}, { state: "queued" });
	expect(decideNow()).toMatchObject({ fact: "opening", isEnd: false });
	delete world.facts.jobs.open;
	const { fact, actions, isEnd } = decideNow();
	expect({ fact, isEnd }).toEqual({ fact: "opening", isEnd: false });
	expect(actions).toContainEqual({ do: "queue", kind: "open", again: false });
});

test.each(["evm", "solana"] as const)(
	"a refund on a chain of kind %s that waits for attesters is queued for a lane once it does not need them",
	(origin) => {
		const world = newWorld({ origin });
		while (!world.has("Opened")) {
			settleRounds(world);
			world.tick();
		}
		world.facts.swap.givingUp = "TOO_LATE";
		Object.defineProperty(world.facts, "attestersAlive", { get: () => 0, set: () => {} });
		while (world.nowSeconds < modelDeadlines.refund - 1) {
			settleRounds(world);
			world.tick();
		}
		expect(world.facts.jobs.refund?.state).toBe("unattested");
		while (world.facts.origin.timestamp < modelDeadlines.refund) world.tick();
		const { actions } = decide(world.facts, world.policy, world.nowSeconds * 1_000);
		expect(actions).toContainEqual({ do: "queue", kind: "refund", attested: false, again: true });
	},
);

test("a delivered output is settled, even if the input was refunded too", () => {
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

test("a settled delivery that a reorg dropped is repeated unchanged [D-status-16]", () => {
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
	const { actions } = decide(world.facts, world.policy, world.nowSeconds * 1_000);
	expect(actions).toEqual([]);
	Object.assign(world.facts.jobs, { fill: { ...world.facts.jobs.fill, state: "refused", reason: "price" } });
	const again = decide(world.facts, world.policy, world.nowSeconds * 1_000);
	expect(again.actions).toEqual([{ do: "queue", kind: "fill", delivery, again: true }]);
});

test.each(["origin", "destination"] as const)(
	"nothing is delivered while the %s chain has no new blocks",
	(chain) => {
		const world = newWorld({});
		while (!world.has("Opened")) {
			settleRounds(world);
			world.tick();
		}
		world.tick();
		world.facts[chain].timestamp -= 61;
		const { fact, actions, wait } = decide(world.facts, world.policy, world.nowSeconds * 1_000);
		expect(fact).toBe(`${chain}-stale`);
		expect(actions.filter((action) => action.do === "queue")).toEqual([]);
		expect(wait.head).toEqual({ chainId: world.facts[chain].chainId, number: world.facts[chain].number + 1 });
		world.facts[chain].timestamp += 1;
		expect(decide(world.facts, world.policy, world.nowSeconds * 1_000).fact).toBe("delivering");
	},
);

test("nothing is decided while a follower is behind", () => {
	const world = newWorld({});
	world.facts.origin.finalizedNumber = world.facts.origin.number + 1;
	world.facts.origin.finalizedTimestamp = modelDeadlines.open + 1;
	expect(decide(world.facts, world.policy, world.nowSeconds * 1_000)).toMatchObject({
		fact: "chain-behind",
		actions: [],
		isEnd: false,
	});
});

const ways = { "between EVM chains": {}, "on an EVM chain": { isCrossChain: false }, ...solanaWays };

test.each(Object.entries(ways))(
	"a swap %s ends, and no rule about money is broken, regardless of the behaviour of chains, lanes and attesters [D-status-18, D-status-19, D-status-22]",
	(_, way) => {
		const outcomes: Record<string, number> = {};
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 2 ** 31 - 1 }),
				fc.integer({ min: 0, max: 220 }),
				(seed, hostileSeconds) => {
					const world = newWorld({ ...way, seed, hostileSeconds });
					runToEnd(world, (decision) => checkDecision(world, decision));
					const { swap, isReserved } = world.facts;
					outcomes[swap.status] = (outcomes[swap.status] ?? 0) + 1;
					expect(swap.status).not.toBe("pending");
					expect(isReserved).toBe(false);
					checkOutcome(world);
					world.landLeftovers();
					checkOutcome(world);
				},
			),
			{ numRuns: 1_000, examples: [[1_217_389_090, 46]] },
		);
		expect(Object.keys(outcomes).toSorted()).toEqual(["failed", "refunded", "settled"]);
	},
);

test("within Solana an order ends in only one way, regardless of the transactions that a forgotten lane signs and when they land", () => {
	fc.assert(
		fc.property(
			fc.integer({ min: 1, max: 2 ** 31 - 1 }),
			fc.array(
				fc.record({ second: fc.integer({ min: 1, max: 200 }), kind: fc.constantFrom("fill", "refund") }),
			),
			(seed, signings) => {
				const world = newWorld({ ...solanaWays["on Solana"], seed, hostileSeconds: 100 });
				for (let second = 0; second < 400; second++) {
					if (!world.isEnded) settleRounds(world);
					world.tick();
					for (const { kind } of signings.filter((one) => one.second === second)) world.signForgotten(kind);
					expect(world.has("Filled") && world.has("Refunded")).toBe(false);
				}
				world.landLeftovers();
				expect(world.has("Filled") && world.has("Refunded")).toBe(false);
			},
		),
		{ numRuns: 100 },
	);
});

function checkOutcome(world: ModelWorld): void {
	const { swap } = world.facts;
	if (swap.status === "failed") expect(world.has("Opened")).toBe(false);
	if (swap.status === "refunded") {
		expect(swap.givingUp).toBeDefined();
		expect(world.has("Refunded") || !world.has("Opened")).toBe(true);
	}
	// The caller always has the output or the input.
	expect(world.has("Filled") || world.has("Refunded") || !world.has("Opened")).toBe(true);
	if (world.has("Released")) expect(world.isFinal("Filled")).toBe(true);
	// The caller has both only if a stranger refunded once anyone may.
	const refunded = world.events.find(({ name }) => name === "Refunded");
	if (refunded && world.has("Filled")) {
		expect(refunded.blockNumber).toBeGreaterThanOrEqual(modelDeadlines.refund);
	}
	for (const name of ["Released", "Refunded"] as const) {
		if (world.has(name)) expect(world.has("Opened")).toBe(true);
	}
	if (!world.options.isCrossChain && world.has("Filled")) expect(world.has("Opened")).toBe(true);
}

function checkDecision(world: ModelWorld, { actions }: Decision): void {
	const { policy } = world;
	const { events, origin, destination, jobs, swap } = world.facts;
	const queues = (kind: string) => actions.some((action) => action.do === "queue" && action.kind === kind);
	const moves = actions.flatMap((action) => (action.do === "advance" ? action.path : []));
	if (queues("void")) {
		expect(queues("fill")).toBe(false);
		expect(["queued", "sent", "done"]).not.toContain(jobs.fill?.state);
	}
	if (queues("fill")) {
		expect(world.nowSeconds).toBeLessThan(modelDeadlines.fill - policy.destination.finalitySeconds);
		if (swap.status === "pending") expect(events.Opened?.blockNumber).toBeLessThan(origin.number);
		expect(jobs.void).toBeUndefined();
		expect(swap.givingUp).toBeUndefined();
		expect(events.Voided).toBeUndefined();
	}
	// An output that was reported as delivered is delivered again for as long as it can be. If the chain takes nothing
	// until then, only the refund is left.
	if (
		swap.status === "settled" &&
		world.nowSeconds < modelDeadlines.fill - policy.destination.finalitySeconds
	) {
		expect(queues("void") || queues("refund")).toBe(false);
	}
	if (queues("open") && policy.origin.kind !== "evm") expect(jobs.open).toBeUndefined();
	if (queues("release")) {
		expect(events.Filled?.blockNumber).toBeLessThanOrEqual(destination.finalizedNumber);
	}
	const isWithinSolana = policy.destination.kind !== "evm" && !world.options.isCrossChain;
	if (isWithinSolana) expect(queues("void") || queues("release")).toBe(false);
	if (queues("refund") && isWithinSolana) {
		// The program refuses a fill after its deadline.
		const isOver = destination.finalizedTimestamp >= modelDeadlines.fill;
		if (!isOver) expect(["queued", "sent", "done"]).not.toContain(jobs.fill?.state);
		expect(events.Filled).toBeUndefined();
	} else if (queues("refund")) {
		const isVoid = events.Voided && events.Voided.blockNumber <= destination.finalizedNumber;
		const isExpired = destination.finalizedTimestamp >= modelDeadlines.fill;
		expect(events.Filled).toBeUndefined();
		expect(isVoid || isExpired).toBe(true);
	}
	if (moves.includes("settled")) expect(events.Filled).toBeDefined();
	if (moves.includes("refunded")) {
		expect(events.Refunded?.data.paid).toBe(true);
		expect(events.Filled).toBeUndefined();
	}
	if (moves.includes("failed")) {
		expect(events.Opened).toBeUndefined();
		if (policy.origin.kind === "solana" && jobs.open?.state === "refused") {
			expect(origin.finalizedHeight).toBeGreaterThan(0);
		} else expect(origin.finalizedTimestamp).toBeGreaterThan(modelDeadlines.open);
	}
}
