import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { type Plan, planOfSeed } from "../plan.ts";
import { type SimulationProcess, startSimulationProcess } from "../simulation-process.ts";
import { plantIn, sourcePath } from "./plant-in.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

/** The plans are as in the main run, except for their size. */
const sizes = { swaps: 8 };
const mostSeeds = 500;
const processes = 2;

/**
 * The seed at which each bug was last found first. At landing it is tried before all others; a full run tries the seeds
 * in order.
 */
const foundAt: Record<string, number> = process.env.GEOSWAP_FULL
	? {}
	: {
			"rounding-up": 2,
			"stale-authorization-fatal": 152,
			"replacement-with-other-jobs": 4,
			"failed-before-the-deadline": 11,
			"reorg-ignored": 15,
			"swaps-mixed-up": 130,
			"lane-waits-for-a-receipt": 296,
			"tick-missing": 457,
		};

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

test("the simulator finds each planted bug, and the unchanged code has no violation on the same seeds", {
	timeout: 1_200_000,
}, async () => {
	const databaseUrl = inject("postgresUrl");
	const missed: string[] = [];
	const found = new Map<string, Plan>();
	const waiting = [...plantedBugs];
	await Promise.all(
		Array.from({ length: processes }, async () => {
			for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
				const first = await find(bug, databaseUrl);
				if (!first) missed.push(bug.name);
				else found.set(`${first.seed} ${bug.strangers ?? 0}`, planOf(bug, first.seed));
				console.log(`${bug.name}: ${tell(first)}`);
			}
		}),
	);
	expect(missed).toEqual([]);

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

function planOf({ strangers }: PlantedBug, seed: number): Plan {
	if (strangers === undefined) return planOfSeed(seed, sizes);
	return { ...planOfSeed(seed, { ...sizes, faults: 0 }), strangers };
}

type Found = { seed: number; swaps: number; violation: string };

async function find(bug: PlantedBug, databaseUrl: string): Promise<Found | undefined> {
	const { name } = bug;
	const simulation = startSimulationProcess({ databaseUrl, bug: name });
	try {
		const inOrder = Array.from({ length: mostSeeds }, (_, i) => i + 1);
		let tried = 0;
		for (const seed of new Set([foundAt[name] ?? 1, ...inOrder])) {
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
		// A world that cannot continue counts as found, like one that ends wrongly; a bug that was never planted does not.
		const { message } = error as Error;
		if (/never loaded|not once|it ended with/.test(message)) throw error;
		return message.split("\n", 1)[0];
	}
}

function tell(found: Found | undefined): string {
	return found
		? `found at seed ${found.seed}, after ${found.swaps} swaps: ${found.violation}`
		: `not found in ${mostSeeds} seeds`;
}
