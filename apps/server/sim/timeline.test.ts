import { expect, test } from "vitest";
import { planOfSeed } from "./plan-arbitrary.ts";
import { timeline } from "./timeline.ts";

const plan = planOfSeed(3, { swaps: 2, faults: 1 });

test("a timeline has the plan, the faults, the swap's steps, and the violation at its end", () => {
	const trace = [
		"5 worker-1 eth_call",
		"10 api: #0 is submitted",
		"20 !: reorg east 3 50",
		"30 worker-1: #0 opening",
		"30 worker-1: #0 opening",
		"40 worker-1: #1 opening",
	];
	const lines = timeline(plan, { trace, violations: ["#0 is not terminal"] });
	expect(lines[0]).toBe("seed 3: 2 swaps, 1 faults");
	expect(lines.slice(4)).toEqual([
		"    0.010 s  api          #0 is submitted",
		"    0.020 s  !            reorg east 3 50",
		"    0.030 s  worker-1     #0 opening (2 times)",
		"    0.040 s  worker-1     #1 opening",
		"",
		"✗ #0 is not terminal",
	]);
});

test("the timeline of a long run is one page with the faults and the swap that the violation names", () => {
	const trace = Array.from({ length: 1_000 }, (_, i) => `${i} worker-1: #1 round ${i}`);
	trace.splice(500, 0, "500 !: crash worker-1", "501 worker-2: #0 opening");
	const lines = timeline(plan, { trace, violations: ["#0 is not terminal"] });
	expect(lines.length).toBeLessThanOrEqual(60);
	expect(lines.join("\n")).toContain("crash worker-1");
	expect(lines.join("\n")).toContain("#0 opening");
});

test("about one swap all of its way is told, with the faults and nothing of the others", () => {
	const trace = Array.from({ length: 100 }, (_, i) => `${i} worker-1: #1 round ${i}`);
	trace.splice(50, 0, "50 worker-2: #0 opening", "50 !: crash worker-1");
	const lines = timeline(plan, { trace, violations: [] }, { about: 1 });
	expect(lines.filter((line) => line.includes("#1 round"))).toHaveLength(100);
	expect(lines.join("\n")).toContain("crash worker-1");
	expect(lines.join("\n")).not.toContain("#0");
});
