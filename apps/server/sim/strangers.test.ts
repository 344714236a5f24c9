import { expect, inject, test } from "vitest";
import { planOfSeed } from "./plan-arbitrary.ts";
import { lookEveryMs, type StrangerFigures } from "./sim-strangers.ts";
import { type SimulationProcess, startSimulationProcess } from "./simulation-process.ts";

const size = process.env.GEOSWAP_FULL
	? { seeds: 500, swaps: 8, strangers: 12 }
	: { seeds: 2, swaps: 8, strangers: 12 };
const processes = 2;
/** Factor by which the acts of strangers may lengthen a caller's wait. */
const maxTimes = 1.5;
const tellEvery = 50;

type Compared = { seed: number; violations: string[]; alone: StrangerFigures; among: StrangerFigures };

test(`strangers in ${size.seeds} worlds cause no violation and lengthen no wait by more than half`, {
	timeout: 3 * 3_600_000,
}, async () => {
	const databaseUrl = inject("postgresUrl");
	const waiting = Array.from({ length: size.seeds }, (_, i) => i + 1);
	const compared: Compared[] = [];
	await Promise.all(
		Array.from({ length: processes }, async () => {
			const simulation = startSimulationProcess({ databaseUrl });
			try {
				for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
					const one = await compare(simulation, seed);
					compared.push(one);
					for (const violation of one.violations) console.log(`seed ${seed}: ${violation}`);
					if (compared.length % tellEvery === 0) console.log(tell(compared));
				}
			} finally {
				await simulation.stop();
			}
		}),
	);
	console.log(tell(compared));
	expect(compared.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed)).toEqual([]);
	expect(compared).toHaveLength(size.seeds);
	// The worlds are not empty, because strangers acted in each way.
	const kinds = new Set(compared.flatMap(({ among }) => Object.keys(among.acts)));
	expect(kinds.size).toBeGreaterThan(6);
});

/**
 * Runs the same world without strangers and with them. There are no faults in it, because they would change the times
 * too.
 */
async function compare(simulation: SimulationProcess, seed: number): Promise<Compared> {
	const plan = planOfSeed(seed, { swaps: size.swaps, faults: 0 });
	const run = async (strangers: number) => {
		const { violations, stats } = await simulation.run({ ...plan, strangers });
		if (!stats.strangers) throw new Error("the plan says how many strangers there are");
		return { violations, figures: stats.strangers };
	};
	const [alone, among] = [await run(0), await run(size.strangers)];
	const late = plan.swaps.flatMap((_, index) => {
		const [before, with_] = [alone.figures.waitedMs[index], among.figures.waitedMs[index]];
		// A caller polls, and may get the result one poll later.
		const maxMs = before === undefined ? undefined : before * maxTimes + lookEveryMs;
		const isSame = (before === undefined) === (with_ === undefined);
		if (isSame && (maxMs === undefined || (with_ ?? 0) <= maxMs)) return [];
		return [`#${index} waited ${with_} ms among strangers, and ${before} ms without them`];
	});
	// Violations that also occur without strangers are left to the other runs of the simulator.
	for (const violation of alone.violations) console.log(`seed ${seed}, without strangers: ${violation}`);
	const ofStrangers = among.violations.filter((violation) => !alone.violations.includes(violation));
	const violations = [...ofStrangers, ...late];
	return { seed, violations, alone: alone.figures, among: among.figures };
}

/** Returns a summary with the service's cost and the strangers' cost side by side. */
function tell(compared: readonly Compared[]): string {
	const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + BigInt(amount), 0n);
	const units = ["wei", "lamports"] as const;
	const costs = units.map((unit) => {
		const alone = sum(compared.map((one) => one.alone.cost.ours[unit]));
		const ours = sum(compared.map((one) => one.among.cost.ours[unit]));
		const theirs = sum(compared.map((one) => one.among.cost.theirs[unit]));
		return `${unit}: ours ${alone} without them and ${ours} among them (${ours - alone} more), theirs ${theirs}`;
	});
	const times = compared.flatMap(({ alone, among }) =>
		Object.entries(among.waitedMs).flatMap(([index, ms]) => {
			const before = alone.waitedMs[Number(index)];
			return before ? [ms / before] : [];
		}),
	);
	const acts: Record<string, number> = {};
	for (const { among } of compared) {
		for (const [name, count] of Object.entries(among.acts)) acts[name] = (acts[name] ?? 0) + count;
	}
	const failed = compared.filter(({ violations }) => violations.length > 0).length;
	return [
		`${compared.length} worlds, ${times.length} swaps, ${failed} worlds with a violation`,
		`longest wait: ${Math.max(0, ...times).toFixed(3)} times that without strangers`,
		...costs,
		JSON.stringify(acts),
	].join("\n");
}
