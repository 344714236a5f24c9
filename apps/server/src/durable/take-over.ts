import type { Log } from "../log.ts";
import type { Engine } from "./durable.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import { handOverAll } from "./hand-over.ts";
import { isSuperseded } from "./register-deployment.ts";

/**
 * What began on older deployments and fails or hangs there, for they are gone or cannot do it, comes to the newest one.
 * Without that a lane would stand still for good: one pump of each runs at a time, and the engine sends it nowhere else.
 * To be called again and again. Does nothing where this deployment is not the newest.
 */
export function createTakeOver({
	admin,
	engine,
	afterMs,
	hungAfterMs,
	nowMs,
	log,
}: {
	admin: Pick<EngineAdmin, "newestDeployment" | "underWayElsewhere" | "kill">;
	engine: Pick<Engine, "startSwap" | "poke">;
	/** How long something must have failed without getting anywhere: a worker that starts again needs a moment. */
	afterMs: number;
	/**
	 * How long an attempt may be under way without getting anywhere, whether or not one failed before: an address that
	 * takes connections and never answers, or a step that does not end. Longer than the engine lets an execution that
	 * waits be idle before it puts it to sleep, or all that wait there would come too.
	 */
	hungAfterMs: number;
	/** Any clock that does not jump. */
	nowMs: () => number;
	log: Log;
}): (deploymentId: string) => Promise<void> {
	let seenAt = new Map<string, number>();
	return async (deploymentId) => {
		if (await isSuperseded(admin, deploymentId)) return;
		const underWay = await admin.underWayElsewhere(deploymentId);
		const now = nowMs();
		// One that gets on has a longer journal, and counts anew.
		const since = ({ id, journalSize }: (typeof underWay)[number]) =>
			seenAt.get(`${id} ${journalSize}`) ?? now;
		seenAt = new Map(underWay.map((one) => [`${one.id} ${one.journalSize}`, since(one)]));
		// Where an attempt is under way, it is let be for longer: it may be the one that works.
		const stuck = underWay.filter(
			(one) => now - since(one) >= (one.status === "backing-off" ? afterMs : hungAfterMs),
		);
		const taken = await handOverAll({ admin, engine, invocations: stuck, log });
		for (const { service, key, deploymentId: from, ...one } of taken) {
			// Later lines of a message can hold an endpoint's address with its key.
			const [problem] = one.problem.split("\n");
			log.warn({ service, key, from, problem }, "taken over from an older version");
		}
	};
}
