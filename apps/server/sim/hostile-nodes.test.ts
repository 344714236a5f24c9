import { expect, inject, test } from "vitest";
import { hostilePlan } from "./hostile-plan.ts";
import { hostileNodeKinds } from "./plan.ts";
import { startSimulationProcess } from "./simulation-process.ts";

const size = process.env.GEOSWAP_FULL ? { seeds: 500, swaps: 8 } : { seeds: 3, swaps: 8 };
const processes = 2;
const logEvery = 50;

test(`in ${size.seeds} worlds whose nodes cap, leave out or refuse logs, with dust of strangers, no rule is violated`, {
	timeout: 3 * 3_600_000,
}, async () => {
	const databaseUrl = inject("postgresUrl");
	const waiting = Array.from({ length: size.seeds }, (_, i) => i + 1);
	const violated: string[] = [];
	const statuses: Record<string, number> = {};
	let count = 0;
	await Promise.all(
		Array.from({ length: processes }, async () => {
			const simulation = startSimulationProcess({ databaseUrl });
			try {
				for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
					const nodes = hostileNodeKinds[seed % hostileNodeKinds.length] ?? "cap";
					const plan = hostilePlan(seed, { swaps: size.swaps, nodes });
					const { violations, stats } = await simulation.run(plan);
					for (const [status, some] of Object.entries(stats.byStatus)) {
						statuses[status] = (statuses[status] ?? 0) + some;
					}
					// Violations that also occur with honest nodes are left to the other runs of the simulator.
					const { nodes: _, ...honest } = plan;
					const without = violations.length > 0 ? (await simulation.run(honest)).violations : [];
					for (const violation of violations.filter((one) => !without.includes(one))) {
						violated.push(`seed ${seed}, nodes that ${nodes}: ${violation}`);
					}
					for (const violation of without) console.log(`seed ${seed}, honest nodes: ${violation}`);
					count++;
					if (count % logEvery === 0) console.log(`${count} worlds`, statuses, violated);
				}
			} finally {
				await simulation.stop();
			}
		}),
	);
	console.log(`${count} worlds`, statuses);
	expect(violated).toEqual([]);
	expect(count).toBe(size.seeds);
	expect(statuses.settled).toBeGreaterThan(0);
});
