import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { Engine } from "./durable.ts";
import type { EngineAdmin, Invocation } from "./engine-admin.ts";
import { handOverAll } from "./hand-over.ts";
import { isSuperseded } from "./register-deployment.ts";

const lookEveryMs = 1_000;
const sayEveryMs = 5_000;
/** What has just begun may not be listed yet. */
const emptyLooks = 2;

/**
 * Leaves a deployment to its successor: hands its swaps over, waits for the pumps that run on it, and removes it from
 * the engine once nothing is left. Returns what was left when the patience was over, or that there is no successor any
 * more; then the deployment stays.
 */
export async function drainDeployment({
	admin,
	engine,
	deploymentId,
	patienceMs,
	log,
}: {
	admin: Pick<EngineAdmin, "newestDeployment" | "unfinishedOn" | "kill" | "removeDeployment">;
	engine: Pick<Engine, "startSwap" | "poke">;
	deploymentId: string;
	patienceMs: number;
	log: Log;
}): Promise<Invocation[] | "no-successor"> {
	const beganAt = performance.now();
	const isPatient = () => performance.now() - beganAt < patienceMs;
	let saidAt = Number.NEGATIVE_INFINITY;
	let empty = 0;
	while (true) {
		const wasPatient = isPatient();
		try {
			// Else swaps would be handed over to this very deployment, again and again.
			if (!(await isSuperseded(admin, deploymentId))) return "no-successor";
			const left = await admin.unfinishedOn(deploymentId);
			empty = left.length === 0 ? empty + 1 : 0;
			if (empty >= emptyLooks) {
				await admin.removeDeployment(deploymentId);
				return [];
			}
			if (!wasPatient && left.length > 0) return left;
			if (left.length > 0 && performance.now() - saidAt >= sayEveryMs) {
				saidAt = performance.now();
				log.info({ deploymentId, left: countByService(left) }, "draining");
			}
			// A pump that runs is about to end by itself.
			const swaps = left.filter(({ service }) => service === "swap");
			await handOverAll({ admin, engine, invocations: swaps, isPatient, log });
		} catch (error) {
			empty = 0;
			// Nobody can say what is left.
			if (!wasPatient) throw error;
			log.warn({ err: error }, "the drain could not go on; it is tried again");
		}
		await sleep(lookEveryMs);
	}
}

export function countByService(invocations: readonly Invocation[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { service } of invocations) counts[service] = (counts[service] ?? 0) + 1;
	return counts;
}
