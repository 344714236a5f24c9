import fc from "fast-check";
import { expect, test } from "vitest";
import { ModelWorld, modelDeadlines } from "../../../test/swap/model-world.ts";
import { decide } from "../../swap/decide/decide.ts";
import type { Decision } from "../../swap/decide/decision.ts";
import type { OrderEventName } from "../../swap/facts/facts.ts";

/** Returns a sequence of numbers that depends on a seed. */
function sequence(seed: number): () => number {
	let state = seed | 1;
	return () => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
}

type Kind = "evm" | "solana";
type Way = { seed?: number; origin?: Kind; destination?: Kind; isCrossChain?: boolean };

function round(world: ModelWorld, check: (decision: Decision) => void = () => {}): void {
	for (let rounds = 0; rounds < 10; rounds++) {
		const decision = decide(world.facts, world.policy, world.nowSeconds * 1_000);
		check(decision);
		world.apply(decision);
		if (decision.isEnd || decision.timeoutMs !== 0) return;
	}
	throw new Error("it never comes to rest");
}

/** Returns a swap that reached this event, and whose row was lost and rebuilt once it could no longer be submitted. */
function rebuiltAfter(
	name: OrderEventName,
	{ seed = 1, origin = "evm", destination = "evm", isCrossChain = true }: Way,
): ModelWorld {
	const world = new ModelWorld({
		isCrossChain,
		origin,
		destination,
		random: sequence(seed),
		hostileSeconds: 0,
	});
	for (let seconds = 0; seconds < 60 && !world.has(name); seconds++) {
		round(world);
		world.tick();
	}
	expect(world.has(name)).toBe(true);
	Object.assign(world.facts, { jobs: {}, isReserved: false });
	Object.assign(world.facts.swap, {
		accountId: undefined,
		op: undefined,
		status: "pending",
		stage: "opening",
		givingUp: undefined,
		originTxHash: undefined,
		deliveryTxHash: undefined,
		deliveredAmount: undefined,
	});
	while (world.nowSeconds < modelDeadlines.open + 5) world.tick();
	return world;
}

/** Runs the swap to its end and returns the jobs that were queued on the way. */
function runToEnd(world: ModelWorld): string[] {
	const queued = new Set<string>();
	for (let seconds = 0; seconds < 900 && !world.isEnded; seconds++) {
		round(world, ({ actions }) => {
			for (const action of actions) {
				if (action.do === "queue") queued.add(action.kind);
				expect(action.do).not.toBe("reserve");
			}
			// Before the fill deadline it is not certain that the order is not filled, except within Solana, where the refund
			// itself closes the order.
			const isWithinSolana = world.policy.origin.kind === "solana" && !world.options.isCrossChain;
			if (!world.has("Filled") && !isWithinSolana && queued.has("refund")) {
				expect(world.nowSeconds).toBeGreaterThanOrEqual(modelDeadlines.fill);
			}
		});
		world.tick();
	}
	expect(world.isEnded).toBe(true);
	return [...queued];
}

const ways: Record<string, Way> = {
	"between EVM chains": {},
	"on an EVM chain": { isCrossChain: false },
	"to Solana": { destination: "solana" },
	"from Solana": { origin: "solana" },
	"on Solana": { origin: "solana", destination: "solana", isCrossChain: false },
};

test.each(Object.entries(ways))(
	"a rebuilt swap %s that was not filled is never filled or voided, and is refunded",
	(_, way) => {
		fc.assert(
			fc.property(fc.integer({ min: 1 }), (seed) => {
				const world = rebuiltAfter("Opened", { seed, ...way });
				expect(runToEnd(world)).toEqual(["refund"]);
				expect(world.facts.swap).toMatchObject({ status: "refunded", givingUp: "TOO_LATE" });
			}),
		);
	},
);

test("the refund of a rebuilt swap is queued as attested", () => {
	const world = rebuiltAfter("Opened", {});
	const refunds: Decision["actions"] = [];
	while (refunds.length === 0) {
		round(world, ({ actions }) => {
			refunds.push(...actions.filter((action) => action.do === "queue"));
		});
		world.tick();
	}
	expect(refunds).toEqual([{ do: "queue", kind: "refund", attested: true, again: false }]);
});

test("a rebuilt swap that was filled is settled, and its input released", () => {
	const world = rebuiltAfter("Filled", {});
	expect(runToEnd(world)).toEqual(["release"]);
	expect(world.facts.swap).toMatchObject({ status: "settled", deliveredAmount: 100n });
	const onOneChain = rebuiltAfter("Filled", { isCrossChain: false });
	expect(runToEnd(onOneChain)).toEqual([]);
	expect(onOneChain.facts.swap.status).toBe("settled");
});

test("a rebuilt swap that was released before is settled, and nothing more is done", () => {
	const released = rebuiltAfter("Released", {});
	expect(runToEnd(released)).toEqual([]);
	expect(released.facts.swap.status).toBe("settled");
});
