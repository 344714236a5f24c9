import { setTimeout as sleep } from "node:timers/promises";
import { type EngineAdmin, EngineRefusal } from "./engine-admin.ts";
import { forgetDeployment, killAll } from "./forget-deployment.ts";

/** The address of this version's handlers, as registered with the engine. */
export type Deployment = {
	id: string;
	/** True if new handlers start on a newer deployment. */
	isSuperseded: boolean;
};

/**
 * Registers the address of this version's handlers with the engine. Retries until the engine answers, so the two may
 * start in any order.
 *
 * First removes the deployments that do not answer, because the engine retries their invocations only at that
 * address, and a handler that waits behind such an invocation would never start. A new address is a new version, on
 * which all handlers start from now on. The newest address is registered again, because the code there may be newer.
 * An older address stays as it is, or a worker that restarts would take over from its successor.
 */
export async function registerDeployment({
	admin,
	url,
	isAlive,
	onRemoved,
	onFailure = () => {},
	signal,
}: {
	admin: EngineAdmin;
	url: string;
	isAlive: (url: string) => Promise<boolean>;
	onRemoved: (dead: { id: string; url: string }) => void;
	/** Called for each failed try that is repeated. */
	onFailure?: (error: unknown) => void;
	signal?: AbortSignal;
}): Promise<Deployment> {
	for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {
		try {
			const others = (await admin.readDeployments()).filter((one) => !isSame(one.url, url));
			await Promise.all(
				others.map(async (other) => {
					if (await isAlive(other.url)) return;
					await forgetDeployment(admin, other.id);
					onRemoved(other);
				}),
			);
			const known = await findDeployment(admin, url);
			if (known !== undefined && (await isSuperseded(admin, known))) return { id: known, isSuperseded: true };
			const id = await admin.register(url);
			await killAll(admin, await admin.unfinishedOfRetiredServices());
			return { id, isSuperseded: false };
		} catch (error) {
			if (error instanceof EngineRefusal) throw error;
			onFailure(error);
		}
		await sleep(pauseMs, undefined, signal ? { signal } : {});
	}
}

/**
 * Registers again if the engine no longer has the deployment, because it lost its data or was restored from an
 * earlier backup. To be called periodically. A superseded deployment does not register again, or it would take over
 * from its successor.
 */
export async function keepRegistered({
	admin,
	url,
	deployment,
}: {
	admin: Pick<EngineAdmin, "readDeployments" | "newestDeployment" | "register">;
	url: string;
	deployment: Deployment;
}): Promise<Deployment> {
	const { id } = deployment;
	const known = await findDeployment(admin, url);
	if (known === id) return { id, isSuperseded: await isSuperseded(admin, id) };
	if (deployment.isSuperseded) return deployment;
	return { id: await admin.register(url), isSuperseded: false };
}

/** Returns whether new handlers start on another deployment. */
export async function isSuperseded(
	admin: Pick<EngineAdmin, "newestDeployment">,
	deploymentId: string,
): Promise<boolean> {
	const newest = await admin.newestDeployment();
	return newest !== undefined && newest !== deploymentId;
}

async function findDeployment(
	admin: Pick<EngineAdmin, "readDeployments">,
	url: string,
): Promise<string | undefined> {
	return (await admin.readDeployments()).find((one) => isSame(one.url, url))?.id;
}

/** The engine may write the same address differently. */
function isSame(a: string, b: string): boolean {
	return new URL(a).href === new URL(b).href;
}
