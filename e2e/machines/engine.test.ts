import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { seededRandom } from "../trouble/seeded-random.ts";
import { engineFolder } from "./engine-parts.ts";
import { ownMachines } from "./own-machines.ts";
import { killPart } from "./part.ts";
import { startAll } from "./start-machines.ts";
import { swapThroughTrouble } from "./swap-through-trouble.ts";
import { shuffledIncidents, troubleOne, troublePart } from "./trouble.ts";

const seed = Number(process.env.GEOSWAP_SEED);
const { swapCount, losses, outageMs, times } = process.env.GEOSWAP_FULL
	? { swapCount: 500, losses: 5, outageMs: 60_000, times: { kill: 20, freeze: 5, cut: 5 } }
	: { swapCount: 20, losses: 1, outageMs: 15_000, times: { kill: 1, freeze: 1, cut: 1 } };

const machinesOf = ownMachines();

test("no swap is lost or paid twice while nodes of the engine die, freeze, are cut off and stay down for long, and when all of them lose their data", async () => {
	const machines = machinesOf();
	const { engine } = machines.parts;
	const random = seededRandom(seed);
	const incidents = shuffledIncidents({ engine: times }, random);
	const steps = [
		...incidents.map(({ trouble }) => ({
			name: `engine ${trouble}`,
			run: () => troubleOne(engine, trouble, random),
		})),
		...Array.from({ length: losses }, (_, i) => ({
			name: "engine lost",
			run: async () => {
				const node = engine[i % engine.length];
				if (node) await troublePart(node, "kill", () => sleep(outageMs));
			},
		})),
		{
			name: "all engine data lost",
			run: async () => {
				await Promise.all(engine.map(killPart));
				for (const { machine } of engine) {
					rmSync(engineFolder(machines.folder, machine.name), { recursive: true });
				}
				await startAll(engine);
			},
		},
	];
	await swapThroughTrouble(machines, {
		swapCount,
		trouble: async ({ until, during }) => {
			for (const [i, { name, run }] of steps.entries()) {
				await until(i / steps.length);
				during(name);
				await run();
			}
		},
	});
});
