import { test } from "vitest";
import { seededRandom } from "../trouble/seeded-random.ts";
import { ownMachines } from "./own-machines.ts";
import { ownCount, ownShare } from "./own-share.ts";
import { swapThroughTrouble } from "./swap-through-trouble.ts";
import { shuffledIncidents, troubleOne } from "./trouble.ts";

const seed = Number(process.env.GEOSWAP_SEED);
const { swapCount, times } = process.env.GEOSWAP_FULL
	? { swapCount: 2_000, times: { kill: 20, freeze: 5, cut: 5 } }
	: { swapCount: 20, times: { kill: 1, freeze: 1, cut: 1 } };

const machinesOf = ownMachines();

test("no swap is lost or paid twice while machines of the API, workers, attesters, Redis and the load balancer die, freeze and are cut off", async () => {
	const machines = machinesOf();
	const random = seededRandom(seed);
	const plan = { api: times, worker: times, attester: times, redis: times, balancer: times };
	const incidents = ownShare(shuffledIncidents(plan, random));
	await swapThroughTrouble(machines, {
		swapCount: ownCount(swapCount),
		trouble: async ({ until, during }) => {
			for (const [i, { kind, trouble }] of incidents.entries()) {
				await until(i / incidents.length);
				during(`${kind} ${trouble}`);
				await troubleOne(machines.parts[kind], trouble, random);
			}
		},
	});
});
