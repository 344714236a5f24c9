import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import type { Fault, Plan } from "./plan.ts";
import { planOfSeed } from "./plan-arbitrary.ts";
import { startSimulationProcess } from "./simulation-process.ts";

const size = process.env.GEOSWAP_FULL ? { seeds: 2_000, swaps: 50 } : { seeds: 4, swaps: 50 };
/**
 * The part of the seeds that this run covers, such as "2/4" for the second quarter. All seeds take too long for one
 * run.
 */
const [part = 1, parts = 1] = process.env.GEOSWAP_PART?.split("/").map(Number) ?? [];
const [firstSeed, lastSeed] = [
	Math.floor((size.seeds * (part - 1)) / parts) + 1,
	Math.floor((size.seeds * part) / parts),
];
const seedCount = lastSeed - firstSeed + 1;
const databaseUrl = inject("postgresUrl");
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const run = (...args: string[]) =>
	promisify(execFile)(process.execPath, ["--no-warnings", main, ...args], { maxBuffer: 2 ** 28 });

/** Returns a plan with one fault of each kind, and of each variant of a kind. */
function planOfAllFaults(seed: number): Plan {
	const sizes = { swaps: 10 };
	const faults = new Map<string, Fault>();
	for (let other = 0; other < 100; other++) {
		for (const fault of planOfSeed(other, sizes).faults) {
			faults.set(`${fault.kind} ${"how" in fault ? fault.how : ""}`, fault);
		}
	}
	return { ...planOfSeed(seed, sizes), faults: [...faults.values()] };
}

test("a plan with every kind of fault has the same trace, byte for byte, in another process and after other plans", async () => {
	const digests = async (seeds: number[]) => {
		const simulation = startSimulationProcess({ databaseUrl });
		try {
			const found = new Map<number, string>();
			for (const seed of seeds) {
				const plan = planOfAllFaults(seed);
				const { trace, violations, stats } = await simulation.run(plan, { keepTrace: true });
				expect(trace.length).toBeGreaterThan(500);
				expect(Object.keys(stats.faultsApplied).length).toBe(15);
				const text = [...trace, ...violations].join("\n");
				found.set(seed, createHash("sha256").update(text).digest("hex"));
			}
			return found;
		} finally {
			await simulation.stop();
		}
	};
	const [one, other] = await Promise.all([digests([2, 3]), digests([3])]);
	expect(other.get(3)).toBe(one.get(3));
	expect(one.get(2)).not.toBe(one.get(3));
});

test(`${seedCount * size.swaps} swaps of ${seedCount} seeds, among strangers, violate no rule`, {
	timeout: 6 * 3_600_000,
}, async () => {
	const seeds = `${firstSeed}..${lastSeed}`;
	const { stdout } = await run(
		...["--seeds", seeds, "--swaps", String(size.swaps), "--strangers", "12", "--jobs", "2", "--json"],
	).catch((error: { stdout: string; stderr: string }) => {
		throw new Error(`${error.stderr}\n${error.stdout}`);
	});
	const result = JSON.parse(stdout) as {
		swaps: number;
		seedsDone: number;
		byStatus: Record<string, number>;
		failures: unknown[];
	};
	console.log(stdout);
	expect(result.failures).toEqual([]);
	expect(result.seedsDone).toBe(seedCount);
	expect(result.swaps).toBe(seedCount * size.swaps);
	// A world in which no swap makes progress has no violations either.
	expect(result.byStatus.settled ?? 0).toBeGreaterThan(result.swaps / 3);
});

test("without faults more than half of the swaps settle", async () => {
	const seeds = process.env.GEOSWAP_FULL ? "1..50" : "1..1";
	const { stdout } = await run("--seeds", seeds, "--swaps", "20", "--faults", "0", "--jobs", "2", "--json");
	const result = JSON.parse(stdout) as { byStatus: { settled: number }; swaps: number };
	// The others have wallets that move their tokens away, or recipients that refuse.
	expect(result.byStatus.settled).toBeGreaterThan(result.swaps / 2);
});

test("the command shrinks a violation to one swap and prints a short timeline", async () => {
	const failed: { code: number; stdout: string } = await run(
		...["--bug", "rounding-up", "--seeds", "1..10", "--swaps", "6", "--jobs", "1"],
		// Shrinking ends when nothing shorter is found, within seconds on an idle machine.
		...["--shrink-for", "120", "--json", "--database", databaseUrl],
	).then(
		() => {
			throw new Error("the planted bug was not found");
		},
		(error) => error,
	);
	expect(failed.code).toBe(1);
	const { plan, timeline } = JSON.parse(failed.stdout) as { plan: Plan; timeline: string[] };
	console.log(timeline.join("\n"));
	expect(plan.swaps).toHaveLength(1);
	expect(plan.faults).toEqual([]);
	expect(timeline.length).toBeLessThan(25);
	expect(timeline.at(-1)).toContain("more than its slippage allows");
});

test("the command prints its usage, and refuses unknown and invalid options", async () => {
	const { stdout } = await run("--help");
	expect(stdout).toContain("--seeds");
	await expect(run("--seeds", "9..1")).rejects.toMatchObject({ code: 2 });
	await expect(run("--bug", "none-such")).rejects.toMatchObject({ code: 2 });
	await expect(run("--unheard-of")).rejects.toMatchObject({ code: 2 });
});
