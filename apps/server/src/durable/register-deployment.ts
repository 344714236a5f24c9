import { setTimeout as sleep } from "node:timers/promises";
import { type EngineAdmin, EngineRefusal } from "./engine-admin.ts";

/** Where our code is, as the engine knows it. */
export type Deployment = {
	id: string;
	/** Whether a newer one serves: what began here ends here, and nothing new begins. */
	isSuperseded: boolean;
};

/**
 * Tells the engine where our code is. Asks until the engine answers, so the two may start in any order. A new address is
 * a new version, on which everything begins from now on. The newest address is looked at again: the code there may be
 * newer. An older one stays what it is, or a worker that comes back to finish its work would take over from its successor.
 */
export async function registerDeployment({
	admin,
	url,
	signal,
}: {
	admin: Pick<EngineAdmin, "findDeployment" | "newestDeployment" | "register">;
	url: string;
	signal?: AbortSignal;
}): Promise<Deployment> {
	for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {
		try {
			const known = await admin.findDeployment(url);
			if (known !== undefined && (await isSuperseded(admin, known))) return { id: known, isSuperseded: true };
			return { id: await admin.register(url), isSuperseded: false };
		} catch (error) {
			if (error instanceof EngineRefusal) throw error;
		}
		await sleep(pauseMs, undefined, signal ? { signal } : {});
	}
}

/**
 * Registers again where the engine no longer knows the deployment: it lost its data, or was restored from a backup of
 * before. To be called again and again. One that had a successor stays away, or it would take over from it, which
 * registers again itself.
 */
export async function keepRegistered({
	admin,
	url,
	deployment,
	isLeaving,
}: {
	admin: Pick<EngineAdmin, "findDeployment" | "newestDeployment" | "register">;
	url: string;
	deployment: Deployment;
	/** Whoever drains is forgotten in the end, and must be. */
	isLeaving: () => boolean;
}): Promise<Deployment> {
	const { id } = deployment;
	const known = await admin.findDeployment(url);
	if (known === id) return { id, isSuperseded: await isSuperseded(admin, id) };
	if (deployment.isSuperseded || isLeaving()) return deployment;
	return { id: await admin.register(url), isSuperseded: false };
}

/** Whether swaps begin on another deployment now. */
export async function isSuperseded(
	admin: Pick<EngineAdmin, "newestDeployment">,
	deploymentId: string,
): Promise<boolean> {
	const newest = await admin.newestDeployment();
	return newest !== undefined && newest !== deploymentId;
}
