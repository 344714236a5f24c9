import fc from "fast-check";
import { expect, test } from "vitest";
import { type ModelOptions, ModelWorld, modelDeadlines } from "../../../test/swap/model-world.ts";
import { sequence } from "../../../test/swap/sequence.ts";
import type { CrossCheck, OrderEvent } from "../facts/facts.ts";
import { decide } from "./decide.ts";
import type { Decision } from "./decision.ts";

/** Returns the second provider's answer to a query; undefined if it does not agree. */
type Second = (world: ModelWorld, deposit: NonNullable<Decision["depositToSee"]>) => CrossCheck | undefined;

/** A world in which a deposit of more than 100 dollars needs a second provider's confirmation. */
class TwoProviders {
	readonly world: ModelWorld;
	readonly second: Second;
	readonly asked: NonNullable<Decision["depositToSee"]>[] = [];
	private readonly crossChecks = new Map<string, CrossCheck>();

	constructor(second: Second, options: Partial<ModelOptions> & { seed?: number; cents?: bigint } = {}) {
		const { seed = 1, cents = 50_000n, ...rest } = options;
		this.second = second;
		this.world = new ModelWorld({
			isCrossChain: true,
			origin: "evm",
			destination: "evm",
			hostileSeconds: 0,
			random: sequence(seed),
			...rest,
		});
		this.world.facts.swap.valueUsdCents = cents;
		this.world.policy.origin = { ...this.world.policy.origin, agreeAboveUsd: 100 };
	}

	decide(): Decision {
		const { facts, policy, nowSeconds } = this.world;
		const { Opened } = facts.events;
		const crossCheck = Opened && this.crossChecks.get(placeOf(Opened));
		if (crossCheck) facts.crossCheck = crossCheck;
		else delete facts.crossCheck;
		return decide(facts, policy, nowSeconds * 1_000);
	}

	/** Decides, applies and queries until nothing is left to do immediately. */
	settle(check: (decision: Decision) => void = () => {}): Decision {
		for (let round = 0; round < 10; round++) {
			const decision = this.decide();
			check(decision);
			this.world.apply(decision);
			const { depositToSee: deposit } = decision;
			if (deposit) {
				this.asked.push(deposit);
				const crossCheck = this.second(this.world, deposit);
				if (crossCheck) {
					this.crossChecks.set(placeOf(deposit), crossCheck);
					continue;
				}
			}
			if (decision.isEnd || decision.timeoutMs !== 0) return decision;
		}
		throw new Error("it never comes to rest");
	}

	/** Runs until a fill is queued that no lane has taken. */
	runUntilQueued(): void {
		while (true) {
			this.settle();
			if (this.world.facts.jobs.fill?.state === "queued") return;
			this.world.tick();
		}
	}

	/** Runs the swap to its end. Returns the facts on the way. */
	run(check?: (decision: Decision) => void): string[] {
		const facts: string[] = [];
		for (let seconds = 0; seconds < 900; seconds++) {
			const { fact } = this.settle(check);
			if (facts.at(-1) !== fact) facts.push(fact);
			if (this.world.isEnded) return facts;
			this.world.tick();
		}
		throw new Error(`it never ends: ${facts.join(", ")}`);
	}
}

function placeOf({ blockNumber, transactionHash }: Pick<OrderEvent, "blockNumber" | "transactionHash">) {
	return `${blockNumber} ${transactionHash}`;
}

const agrees: Second = ({ facts: { origin } }) => ({
	headNumber: origin.number,
	finalizedNumber: origin.finalizedNumber,
});
const never: Second = () => undefined;
const mustNotBeAsked: Second = () => {
	throw new Error("nobody needs to be asked");
};

test("a large deposit is delivered once the second provider has it, after one request for its exact place", () => {
	const two = new TwoProviders(agrees);
	expect(two.run()).toEqual([
		"opening",
		"deposited",
		"delivering",
		"delivered",
		"delivery-final",
		"released",
	]);
	const [opened] = two.world.events;
	expect(two.asked).toEqual([
		{
			chainId: 1,
			blockNumber: opened?.blockNumber,
			blockHash: opened?.blockHash,
			transactionHash: opened?.transactionHash,
			headNumber: (opened?.blockNumber ?? 0) + 1,
			finalizedNumber: opened?.blockNumber,
		},
	]);
});

test.each([
	["of exactly the threshold", { cents: 10_000n }],
	["below the threshold", { cents: 9_999n }],
])("a deposit %s does not wait for the second provider", (_, options) => {
	const two = new TwoProviders(mustNotBeAsked, options);
	two.run();
	expect(two.world.facts.swap.status).toBe("settled");
});

test("without a configured second provider no request is made, regardless of the deposit's value", () => {
	const two = new TwoProviders(mustNotBeAsked, { cents: 90_000n });
	const { agreeAboveUsd: _, ...origin } = two.world.policy.origin;
	two.world.policy.origin = origin as typeof two.world.policy.origin;
	two.run();
	expect(two.world.facts.swap.status).toBe("settled");
});

test("a large deposit that the second provider never has is held until it is too late, and then refunded", () => {
	const two = new TwoProviders(never);
	const facts = two.run(({ actions }) => {
		expect(actions).not.toContainEqual(expect.objectContaining({ do: "queue", kind: "fill" }));
	});
	expect(facts).toContain("deposit-unseen");
	expect(two.world.facts.swap).toMatchObject({ status: "refunded", givingUp: "TOO_LATE" });
	expect(two.world.has("Filled")).toBe(false);
	expect(two.world.nowSeconds).toBeLessThan(modelDeadlines.refund + 60);
});

test("a held deposit is checked again soon, and at the last moment for a fill", () => {
	const two = new TwoProviders(never);
	while (two.settle().fact !== "deposit-unseen") two.world.tick();
	const { timeoutMs, momentMs = 0, wait } = two.decide();
	expect({ timeoutMs, wait }).toEqual({ timeoutMs: 2_000, wait: {} });
	const { destination } = two.world.policy;
	expect(two.world.nowSeconds + momentMs / 1_000).toBe(modelDeadlines.fill - destination.finalitySeconds);
});

test("a deposit must be deep enough at the second provider too, or final there if its value requires that", () => {
	const shallow = new TwoProviders((_, { blockNumber }) => ({ headNumber: blockNumber, finalizedNumber: 0 }));
	expect(() => shallow.run()).toThrow("never comes to rest");
	expect(shallow.world.has("Filled")).toBe(false);

	// The value is above all depths, so only finality counts, with both providers.
	const unfinal = new TwoProviders(
		({ facts: { origin } }, { blockNumber }) => ({
			headNumber: origin.number,
			finalizedNumber: blockNumber - 1,
		}),
		{ cents: 500_000n },
	);
	expect(() => unfinal.run()).toThrow("never comes to rest");
	expect(unfinal.world.has("Filled")).toBe(false);
	expect(unfinal.asked[0]).not.toHaveProperty("headNumber");
	const final = new TwoProviders(agrees, { cents: 500_000n });
	expect(final.run()).toContain("delivering");
});

test("a deposit that moved to another block is queried again, and the fill queued for the old one is withdrawn", () => {
	const two = new TwoProviders(agrees);
	two.runUntilQueued();
	const [opened] = two.world.events;
	if (!opened) throw new Error("it was opened");
	// The deposit is as deep as before, but in another transaction and block.
	Object.assign(opened, { transactionHash: "0xaa", blockHash: "0xaa" });
	const { fact, actions } = two.decide();
	expect(fact).toBe("deposit-moved");
	expect(actions).toContainEqual({ do: "withdraw", kind: "fill" });
	two.settle();
	expect(two.asked.map(({ transactionHash }) => transactionHash)).toEqual(["0x1", "0xaa"]);
	expect(two.world.facts.jobs.fill?.state).toBe("queued");
});

test("a queued fill is withdrawn if the deposit is on the chain again, but not as deep", () => {
	const two = new TwoProviders(mustNotBeAsked, { cents: 5_000n });
	two.runUntilQueued();
	const [opened] = two.world.events;
	if (!opened) throw new Error("it was opened");
	opened.blockNumber = two.world.facts.origin.number;
	expect(two.decide()).toMatchObject({
		fact: "deposit-moved",
		actions: expect.arrayContaining([{ do: "withdraw", kind: "fill" }]),
	});
});

test("a settled delivery is repeated, regardless of the second provider's current response about its deposit", () => {
	const two = new TwoProviders(agrees);
	while (two.world.facts.swap.status !== "settled") {
		two.settle();
		two.world.tick();
	}
	two.world.events = two.world.events.filter((event) => event.name !== "Filled");
	const [opened] = two.world.events;
	Object.assign(opened ?? {}, { transactionHash: "0xaa" });
	two.world.facts.events = { Opened: two.world.facts.events.Opened } as typeof two.world.facts.events;
	Object.assign(two.world.facts.jobs, { fill: { ...two.world.facts.jobs.fill, state: "refused" } });
	expect(two.decide().actions).toContainEqual(expect.objectContaining({ do: "queue", kind: "fill" }));
});

test("a large deposit from Solana that the second provider never has is refunded by attesters, who read it themselves", () => {
	const two = new TwoProviders(never, { origin: "solana" });
	const facts = two.run(({ actions }) => {
		expect(actions).not.toContainEqual(expect.objectContaining({ do: "queue", kind: "fill" }));
		const refund = actions.find((action) => action.do === "queue" && action.kind === "refund");
		if (refund) expect(refund).toMatchObject({ attested: true });
	});
	expect(facts).toContain("deposit-unseen");
	expect(two.world.facts.swap).toMatchObject({ status: "refunded", givingUp: "TOO_LATE" });
});

const ways = {
	"between EVM chains": {},
	"from Solana": { origin: "solana" },
	"on Solana": { origin: "solana", destination: "solana", isCrossChain: false },
} as const;

test.each(Object.entries(ways))(
	"a large swap %s is filled only once the second provider confirmed it, and ends, regardless of the behaviour of chains and providers",
	(_, way) => {
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 2 ** 31 - 1 }),
				fc.integer({ min: 0, max: 220 }),
				(seed, hostileSeconds) => {
					const moody: Second = (world, deposit) =>
						world.isHostile && world.chance(0.7) ? undefined : agrees(world, deposit);
					const two = new TwoProviders(moody, { ...way, seed, hostileSeconds });
					two.run(({ actions }) => {
						const isFilling = actions.some((action) => action.do === "queue" && action.kind === "fill");
						const { facts } = two.world;
						if (!isFilling || facts.swap.status !== "pending") return;
						expect(facts.crossCheck?.headNumber).toBeGreaterThan(facts.events.Opened?.blockNumber ?? 0);
					});
					expect(two.world.facts.swap.status).not.toBe("pending");
				},
			),
			{ numRuns: 300 },
		);
	},
);
