import { expect, test } from "vitest";
import {
	canMove,
	isTerminal,
	type SwapStage,
	swapStages,
	swapStatuses,
	swapTransitions,
} from "./swap-status.ts";

const terminal = swapStatuses.filter(isTerminal);

/** Returns every stage and status that a swap can reach from this stage. */
function reachableFrom(stage: SwapStage): Set<string> {
	const reached = new Set<string>([stage]);
	// Iterating over a Set also visits what the loop adds to it.
	for (const from of reached) {
		for (const transition of swapTransitions) if (transition.from === from) reached.add(transition.to);
	}
	return reached;
}

test("no transition leaves a terminal status [D-status-21]", () => {
	const from: string[] = swapTransitions.map((transition) => transition.from);
	expect(terminal).toEqual(["settled", "failed", "refunded"]);
	expect(terminal.filter((status) => from.includes(status))).toEqual([]);
});

test("every stage of a pending swap and every terminal status can be reached from opening", () => {
	const reached = reachableFrom("opening");
	// `delivered` is the stage that a settled swap keeps.
	const expected = [...swapStages.filter((stage) => stage !== "delivered"), ...terminal];
	expect(expected.filter((state) => !reached.has(state))).toEqual([]);
});

test("every stage of a pending swap can reach a terminal status", () => {
	for (const { from } of swapTransitions) {
		expect(
			terminal.some((status) => reachableFrom(from).has(status)),
			from,
		).toBe(true);
	}
});

test("a swap can fail only from opening, and can be refunded only from refunding [D-status-22]", () => {
	const comingTo = (to: string) => swapTransitions.filter((one) => one.to === to).map((one) => one.from);
	expect(comingTo("failed")).toEqual(["opening"]);
	expect(comingTo("refunded")).toEqual(["refunding"]);
	expect(canMove("deposited", "failed")).toBe(false);
	expect(canMove("opening", "refunded")).toBe(false);
	expect(canMove("opening", "deposited")).toBe(true);
});

test("no transition is listed twice", () => {
	const pairs = swapTransitions.map(({ from, to }) => `${from} ${to}`);
	expect(new Set(pairs).size).toBe(pairs.length);
});
