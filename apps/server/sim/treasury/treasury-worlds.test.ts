import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { plantIn, sourcePath } from "../bugs/plant-in.ts";
import { runWorlds } from "./run-worlds.ts";
import { treasuryBugs } from "./treasury-bugs.ts";
import { runTreasuryWorld, type WorldResult } from "./treasury-world.ts";

const isFull = Boolean(process.env.GEOSWAP_FULL);
const flows = ["one-way", "mixed"] as const;
const jobs = 2;
/** Long enough for a restore, and for a burn that never arrives to be noticed. */
const bugDays = 2;
const maxBugSeeds = 5;
/** A full run tries all bugs, any other run one that follows from its seed. */
const first = Number(process.env.GEOSWAP_SEED) % treasuryBugs.length;
const tried = isFull ? treasuryBugs : treasuryBugs.slice(first, first + 1);
/** For 200 weeks on a busy machine. */
const timeout = 1_800_000;

test.for(flows)(
	"in weeks of %s flow books and chains agree, and the planner serves most of the volume",
	{ timeout },
	async (flow) => {
		const seeds = isFull ? Array.from({ length: 200 }, (_, i) => i + 1) : [1];
		const results = await runWorlds(
			seeds.map((seed) => ({ seed, flow, mode: "act" })),
			{ jobs },
		);
		expect(results.flatMap(({ violations }) => violations)).toEqual([]);
		expect(mean(results, ({ servedShareAtUsualGas }) => servedShareAtUsualGas)).toBeGreaterThan(
			isFull ? 0.85 : 0.8,
		);
	},
);

test.for(flows)(
	"in %s flow, moves serve more than plans alone, also where the bridge is seven times slower",
	{ timeout },
	async (flow) => {
		const seeds = isFull ? Array.from({ length: 200 }, (_, i) => i + 1) : [1];
		const days = isFull ? 7 : 1;
		const [slow, planned] = await Promise.all(
			(["slow", "plan"] as const).map((mode) =>
				runWorlds(
					seeds.map((seed) => ({ seed, flow, mode, days })),
					{ jobs: 1 },
				),
			),
		);
		expect([...(slow ?? []), ...(planned ?? [])].flatMap(({ violations }) => violations)).toEqual([]);
		const served = (results: WorldResult[] = []) => mean(results, ({ servedShare }) => servedShare);
		expect(served(slow)).toBeGreaterThan(served(planned));
	},
);

test("a world of any seed keeps its books, and runs again in the same way", () => {
	const request = { seed: Number(process.env.GEOSWAP_SEED), flow: "mixed", mode: "act", days: 1 } as const;
	const first = runTreasuryWorld(request);
	expect(first.violations).toEqual([]);
	expect(runTreasuryWorld(request)).toEqual(first);
});

test("every bug of the treasury's worlds can still be applied to its file", () => {
	for (const { name, edits } of treasuryBugs) {
		for (const edit of edits) {
			const source = readFileSync(sourcePath(edit.file), "utf8");
			expect(plantIn(source, [edit]), name).not.toBe(source);
		}
	}
});

test("a planted bug is found by the check that it names, and a world without it has no violation", {
	timeout,
}, async () => {
	for (const { name, foundBy } of tried) {
		const found: string[] = [];
		for (let seed = 1; seed <= maxBugSeeds && !found.includes(foundBy); seed++) {
			const [result] = await runWorlds([{ seed, flow: "one-way", mode: "act", days: bugDays }], {
				jobs: 1,
				bug: name,
			});
			found.push(...(result?.violations ?? []).map((violation) => violation.split(":", 1)[0] ?? ""));
		}
		expect(found, name).toContain(foundBy);
	}
	const clean = await runWorlds([{ seed: 1, flow: "one-way", mode: "act", days: bugDays }], { jobs: 1 });
	expect(clean.flatMap(({ violations }) => violations)).toEqual([]);
});

function mean(results: readonly WorldResult[], of: (result: WorldResult) => number): number {
	return results.reduce((sum, result) => sum + of(result), 0) / results.length;
}
