import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { hostilePlan } from "../hostile-plan.ts";
import type { Plan } from "../plan.ts";
import { planOfSeed } from "../plan-arbitrary.ts";
import { type SimulationProcess, startSimulationProcess } from "../simulation-process.ts";
import { hashOf, readFoundBugs, recordFoundBugs } from "./found-bugs.ts";
import { plantIn, sourcePath } from "./plant-in.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

/** The plans are as in the main run, except for their size. */
const sizes = { swaps: 8 };
const maxSeeds = 500;
const processes = 2;

const isFull = Boolean(process.env.GEOSWAP_FULL);
/** If set, the test searches for all bugs, and writes their seeds to found-bugs.json. */
const isRecording = Boolean(process.env.GEOSWAP_RECORD);

const foundBefore = readFoundBugs();
/**
 * A full run searches for all bugs, and tries the seeds in order. Any other run searches only for those of which the
 * file or the simulator has changed since they were found, and tries that seed first.
 */
const wanted =
	isFull || isRecording
		? plantedBugs
		: plantedBugs.filter((bug) => foundBefore[bug.name]?.hash !== hashOf(bug));

test("every planted bug can still be applied to its file", () => {
	for (const { name, edits } of plantedBugs) {
		for (const file of new Set(edits.map((edit) => edit.file))) {
			const source = readFileSync(sourcePath(file), "utf8");
			const planted = plantIn(
				source,
				edits.filter((edit) => edit.file === file),
			);
			expect(planted, name).not.toBe(source);
		}
	}
});

test("a planted bug whose text is not found exactly once in its file throws", () => {
	const edit = { file: "a.ts", find: "one", replace: "two" };
	expect(() => plantIn("none", [{ ...edit, find: "three" }])).toThrow("0 times");
	expect(() => plantIn("one one", [edit])).toThrow("2 times");
	expect(plantIn("one", [edit])).toBe("two");
});

test("the simulator finds each planted bug whose file or whose simulator has changed, and the unchanged code has no violation on the same seeds", {
	timeout: 1_200_000,
}, async () => {
	const databaseUrl = inject("postgresUrl");
	const missed: string[] = [];
	const seeds = new Map<string, number>();
	const found = new Map<string, Plan>();
	const waiting = [...wanted];
	console.log(`looking for ${waiting.length} of ${plantedBugs.length} bugs`);
	await Promise.all(
		Array.from({ length: processes }, async () => {
			for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
				const first = await find(bug, databaseUrl);
				if (first) {
					seeds.set(bug.name, first.seed);
					found.set(`${first.seed} ${bug.strangers ?? 0} ${bug.nodes}`, planOf(bug, first.seed));
				} else missed.push(bug.name);
				console.log(`${bug.name}: ${tell(first)}`);
			}
		}),
	);
	expect(missed).toEqual([]);
	if (isRecording) recordFoundBugs(seeds);
	if (found.size === 0) return;

	const clean = startSimulationProcess({ databaseUrl });
	try {
		for (const plan of found.values()) {
			const { violations } = await clean.run(plan);
			expect(violations, `seed ${plan.seed} without a bug`).toEqual([]);
		}
	} finally {
		await clean.stop();
	}
});

function planOf({ strangers, nodes }: PlantedBug, seed: number): Plan {
	if (nodes) return hostilePlan(seed, { ...sizes, nodes });
	if (strangers === undefined) return planOfSeed(seed, sizes);
	return { ...planOfSeed(seed, { ...sizes, faults: 0 }), strangers };
}

type Found = { seed: number; swaps: number; violation: string };

async function find(bug: PlantedBug, databaseUrl: string): Promise<Found | undefined> {
	const { name } = bug;
	const simulation = startSimulationProcess({ databaseUrl, bug: name });
	try {
		const inOrder = Array.from({ length: maxSeeds }, (_, i) => i + 1);
		let tried = 0;
		for (const seed of new Set([...(isFull ? [] : [foundBefore[name]?.seed ?? 1]), ...inOrder])) {
			const violation = await firstViolation(simulation, planOf(bug, seed));
			tried++;
			if (violation) return { seed, swaps: tried * sizes.swaps, violation };
		}
		return undefined;
	} finally {
		await simulation.stop();
	}
}

async function firstViolation(simulation: SimulationProcess, plan: Plan): Promise<string | undefined> {
	try {
		const { violations } = await simulation.run(plan);
		return violations[0];
	} catch (error) {
		// A world that cannot continue counts as found, like one that ends wrongly. A bug that was never planted does not.
		const { message } = error as Error;
		if (/never loaded|not once|it ended with/.test(message)) throw error;
		return message.split("\n", 1)[0];
	}
}

function tell(found: Found | undefined): string {
	return found
		? `found at seed ${found.seed}, after ${found.swaps} swaps: ${found.violation}`
		: `not found in ${maxSeeds} seeds`;
}
