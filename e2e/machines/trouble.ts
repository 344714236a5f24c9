import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../trouble/seeded-random.ts";
import { killPart, type Part, startPart } from "./part.ts";
import { type Kind, untilWell } from "./start-machines.ts";

export const troubles = ["kill", "freeze", "cut"] as const;
/** All processes of the machine are killed with SIGKILL or halted for a while, or the machine's packets are lost. */
export type Trouble = (typeof troubles)[number];

export type Incident = { kind: Kind; trouble: Trouble };

/** How often each trouble befalls the machines of each kind. */
export type TroublePlan = Partial<Record<Kind, Record<Trouble, number>>>;

/** Returns all incidents of a plan in random order. */
export function shuffledIncidents(plan: TroublePlan, random: SeededRandom): Incident[] {
	const incidents = Object.entries(plan).flatMap(([kind, times]) =>
		troubles.flatMap((trouble) =>
			Array.from({ length: times[trouble] }, (): Incident => ({ kind: kind as Kind, trouble })),
		),
	);
	for (let i = incidents.length - 1; i > 0; i--) {
		const j = random.between(0, i);
		[incidents[i], incidents[j]] = [incidents[j] as Incident, incidents[i] as Incident];
	}
	return incidents;
}

/** Troubles one machine until `isEnough` returns, and waits until it is well again. */
export async function troublePart(
	part: Part,
	trouble: Trouble,
	isEnough: () => Promise<unknown>,
): Promise<void> {
	const { machine } = part;
	if (trouble === "kill") await killPart(part);
	else if (trouble === "freeze") machine.freeze();
	else machine.cut();
	try {
		await isEnough();
	} finally {
		if (trouble === "freeze") machine.thaw();
		if (trouble === "cut") machine.join();
	}
	// Some processes end by themselves after a freeze or a cut.
	await startPart(part);
	await untilWell([part]);
}

/** Troubles a random machine of a kind for a random time. */
export async function troubleOne(
	parts: readonly Part[],
	trouble: Trouble,
	random: SeededRandom,
): Promise<void> {
	const part = random.pick(parts);
	if (!part) throw new RangeError("there are no machines of this kind");
	const [least, most] = trouble === "kill" ? [100, 3_000] : [1_000, 12_000];
	await troublePart(part, trouble, () => sleep(random.between(least, most)));
}
