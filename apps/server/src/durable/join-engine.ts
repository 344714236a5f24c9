import type { Log } from "../telemetry/log.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import { forgetDeployment } from "./forget-deployment.ts";
import { isAlive } from "./is-alive.ts";
import { type Deployment, isSuperseded, keepRegistered, registerDeployment } from "./register-deployment.ts";

/** The engine may start after us. One that cannot call this worker back would be silent forever. */
const tellAfterMs = 5_000;

export type Membership = {
	/** Settles once the engine knows this worker, or never will. */
	joined: Promise<void>;
	/** To be called periodically. */
	stay: () => Promise<void>;
	/** To be called on shutdown: if a newer version serves, nothing must wait at an address that nobody answers. */
	leave: () => Promise<void>;
};

/** Registers this worker's handlers with the engine, without waiting for it: ticks do what is due until then. */
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
					? "this worker is on standby: a newer version is registered"
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
