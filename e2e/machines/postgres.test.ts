import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { seededRandom } from "../trouble/seeded-random.ts";
import { untilPrimary, untilPromoted } from "./database-parts.ts";
import { ownMachines } from "./own-machines.ts";
import { ownCount, ownShare } from "./own-share.ts";
import { untilWell } from "./start-machines.ts";
import { swapThroughTrouble } from "./swap-through-trouble.ts";
import { shuffledIncidents, troubleOne, troublePart, troubles } from "./trouble.ts";

const seed = Number(process.env.GEOSWAP_SEED);
const { swapCount, failovers, times } = process.env.GEOSWAP_FULL
	? { swapCount: 500, failovers: 20, times: { kill: 20, freeze: 3, cut: 3 } }
	: { swapCount: 20, failovers: 3, times: { kill: 1, freeze: 1, cut: 1 } };

const machinesOf = ownMachines();

test("no swap is lost or paid twice while the primary of PostgreSQL is lost repeatedly, together with machines of etcd", async () => {
	const machines = machinesOf();
	const { postgres, etcd } = machines.parts;
	const random = seededRandom(seed);
	const others = shuffledIncidents({ etcd: times }, random);
	const rounds = ownShare(
		Array.from({ length: failovers }, (_, i) => ({
			trouble: troubles[i % troubles.length] ?? "kill",
			others: others.filter((_, j) => j % failovers === i),
		})),
	);
	await swapThroughTrouble(machines, {
		swapCount: ownCount(swapCount),
		trouble: async ({ until, during }) => {
			for (const [i, round] of rounds.entries()) {
				await until(i / rounds.length);
				for (const { kind, trouble } of round.others) {
					during(`${kind} ${trouble}`);
					await troubleOne(etcd, trouble, random);
				}
				// Only a replica that has everything is promoted.
				await untilWell([...etcd, ...postgres]);
				const primary = await untilPrimary(postgres);
				during(`primary ${round.trouble}`);
				await troublePart(primary, round.trouble, () => untilPromoted(postgres, primary));
				expect((await untilPrimary(postgres)).machine.name).not.toBe(primary.machine.name);
				during(`after primary ${round.trouble}`);
				await untilWell(postgres);
			}
			during("replica kill");
			const primary = await untilPrimary(postgres);
			const replica = postgres.find((part) => part !== primary);
			if (replica) await troublePart(replica, "kill", () => sleep(random.between(1_000, 30_000)));
		},
	});
});
