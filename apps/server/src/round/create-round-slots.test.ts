import { expect, test } from "vitest";
import { createRoundSlots } from "./create-round-slots.ts";

function scene({ slots, backlog, roundMs = 0 }: { slots: number; backlog: number; roundMs?: number }) {
	const poked: string[] = [];
	let rounds = 0;
	let nowMs = 0;
	const runLane = createRoundSlots({
		runRound: async () => {
			nowMs += roundMs;
			return { ran: 60, hasMore: ++rounds < backlog };
		},
		slots,
		engine: { poke: async ({ object, key }) => void poked.push(`${object}/${key}`) },
		nowMs: () => nowMs,
	});
	return { runLane, poked, rounds: () => rounds };
}

test("a slot runs rounds until nothing is due, and pokes the next slot meanwhile", async () => {
	const { runLane, poked, rounds } = scene({ slots: 2, backlog: 3 });
	await runLane("0");
	expect({ poked, rounds: rounds() }).toEqual({ poked: ["round/1", "round/1"], rounds: 3 });
});

test("the last slot pokes no other slot", async () => {
	const { runLane, poked, rounds } = scene({ slots: 2, backlog: 3 });
	await runLane("1");
	expect({ poked, rounds: rounds() }).toEqual({ poked: [], rounds: 3 });
});

test("a slot that never finishes stops in time and pokes itself again", async () => {
	const { runLane, poked, rounds } = scene({ slots: 1, backlog: 1_000, roundMs: 5_000 });
	await runLane("0");
	expect({ poked, rounds: rounds() }).toEqual({ poked: ["round/0"], rounds: 4 });
});
