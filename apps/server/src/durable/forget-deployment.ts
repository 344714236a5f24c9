import type { EngineAdmin } from "./engine-admin.ts";

const atOnce = 20;

/**
 * Removes a deployment from the engine. Its invocations are killed, which is safe at any moment, because handlers
 * continue from the store and the tick pokes what is due.
 */
export async function forgetDeployment(
	admin: Pick<EngineAdmin, "unfinishedOn" | "kill" | "removeDeployment">,
	deploymentId: string,
): Promise<void> {
	await killAll(admin, await admin.unfinishedOn(deploymentId));
	await admin.removeDeployment(deploymentId);
}

export async function killAll(
	admin: Pick<EngineAdmin, "kill">,
	invocationIds: readonly string[],
): Promise<void> {
	for (let i = 0; i < invocationIds.length; i += atOnce) {
		await Promise.all(invocationIds.slice(i, i + atOnce).map((id) => admin.kill(id)));
	}
}
