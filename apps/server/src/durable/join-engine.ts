import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../telemetry/log.ts";
import { type EngineAdmin, EngineRefusal } from "./engine-admin.ts";

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

const timeoutMs = 1_000;
const tries = 3;
const pauseMs = 500;

/**
 * Returns whether this address accepts connections. Tries a few times, because a restarting worker needs a moment.
 */
export async function isAlive(url: string): Promise<boolean> {
	for (let i = 0; i < tries; i++) {
		if (i > 0) await sleep(pauseMs);
		if (await takesConnections(new URL(url))) return true;
	}
	return false;
}

function takesConnections({ hostname, port, protocol }: URL): Promise<boolean> {
	return new Promise((resolve) => {
		const host = hostname.replace(/^\[(.*)\]$/, "$1");
		const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
		const end = (is: boolean) => {
			socket.destroy();
			resolve(is);
		};
		socket.setTimeout(timeoutMs, () => end(false));
		socket.once("connect", () => end(true));
		socket.once("error", () => end(false));
	});
}

/** The address of this version's handlers, as registered with the engine. */
type Deployment = {
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
async function isSuperseded(
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

const atOnce = 20;

/**
 * Removes a deployment from the engine. Its invocations are killed, which is safe at any moment, because handlers
 * continue from the store and the tick pokes what is due.
 */
async function forgetDeployment(
	admin: Pick<EngineAdmin, "unfinishedOn" | "kill" | "removeDeployment">,
	deploymentId: string,
): Promise<void> {
	await killAll(admin, await admin.unfinishedOn(deploymentId));
	await admin.removeDeployment(deploymentId);
}

async function killAll(admin: Pick<EngineAdmin, "kill">, invocationIds: readonly string[]): Promise<void> {
	for (let i = 0; i < invocationIds.length; i += atOnce) {
		await Promise.all(invocationIds.slice(i, i + atOnce).map((id) => admin.kill(id)));
	}
}
