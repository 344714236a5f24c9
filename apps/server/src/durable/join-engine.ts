import type { Log } from "../telemetry/log.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import { forgetDeployment } from "./forget-deployment.ts";
import { isAlive } from "./is-alive.ts";
import { type Deployment, isSuperseded, keepRegistered, registerDeployment } from "./register-deployment.ts";

/**
 * Time until a failed registration is logged. The engine may start after this worker, but without a log an engine
 * that cannot call the worker back would never be noticed.
 */
const tellAfterMs = 5_000;

export type Membership = {
	/** Settles once the worker is registered with the engine, or never will be. */
	joined: Promise<void>;
	/** To be called periodically. */
	stay: () => Promise<void>;
	/**
	 * To be called on shutdown. If a newer version serves, no invocation must wait at an address that no longer
	 * answers.
	 */
	leave: () => Promise<void>;
};

/** Registers this worker's handlers with the engine, without waiting for it. Until then ticks do what is due. */
export function joinEngine({
	admin,
	url,
	signal,
	log,
}: {
	admin: EngineAdmin;
	url: string;
	signal: AbortSignal;
	log: Log;
}): Membership {
	let deployment: Deployment | undefined;
	let problem: unknown;

	async function join(): Promise<void> {
		const telling = setTimeout(
			() => log.warn({ err: problem, url }, "this worker is not registered with the engine yet; retrying"),
			tellAfterMs,
		);
		try {
			deployment = await registerDeployment({
				admin,
				url,
				isAlive,
				onFailure: (error) => {
					problem = error;
				},
				onRemoved: (dead) => log.warn(dead, "removed the deployment of a worker that does not answer"),
				signal,
			});
			const { id: deploymentId, isSuperseded: isOlder } = deployment;
			log.info(
				{ deploymentId },
				isOlder
					? "this worker is on standby, because a newer version is registered"
					: "this worker is registered with the engine",
			);
		} catch (error) {
			if (!signal.aborted) log.error({ err: error }, "this worker could not be registered with the engine");
		} finally {
			clearTimeout(telling);
		}
	}

	return {
		joined: join(),
		stay: async () => {
			if (!deployment) return;
			const { id } = deployment;
			deployment = await keepRegistered({ admin, url, deployment });
			if (deployment.id !== id) {
				log.warn({ deploymentId: deployment.id }, "the engine had lost this worker; it is registered again");
			}
		},
		leave: async () => {
			if (!deployment) return;
			const { id: deploymentId } = deployment;
			if (!(await isSuperseded(admin, deploymentId))) return;
			await forgetDeployment(admin, deploymentId);
			log.info({ deploymentId }, "this worker is no longer registered with the engine");
		},
	};
}
