import * as z from "zod";

const timeoutMs = 10_000;

const deploymentsSchema = z.object({
	deployments: z.array(z.object({ id: z.string(), uri: z.string().exactOptional() })),
});
const serviceSchema = z.object({ deployment_id: z.string() });
const registeredSchema = z.object({ id: z.string() });
const invocationsSchema = z.object({ rows: z.array(z.object({ id: z.string() })) });

/** The engine's admin port. */
export type EngineAdmin = {
	/** Returns every deployment that is registered with the engine, and its address. */
	readDeployments: () => Promise<{ id: string; url: string }[]>;
	/** Returns the deployment on which new handlers start. */
	newestDeployment: () => Promise<string | undefined>;
	/** Makes the deployment at this address the newest. The engine requests its list of services again. */
	register: (url: string) => Promise<string>;
	/** Returns the ids of a deployment's invocations that have not ended. The engine retries them only there. */
	unfinishedOn: (deploymentId: string) => Promise<string[]>;
	/** Returns the ids of unfinished invocations of services that this version no longer has. */
	unfinishedOfRetiredServices: () => Promise<string[]>;
	/** Kills an invocation, unless it has ended. A handler that a process is running for it is not stopped. */
	kill: (invocationId: string) => Promise<void>;
	/** Removes a deployment. Its unfinished invocations would be stuck permanently. */
	removeDeployment: (deploymentId: string) => Promise<void>;
};

/** Thrown if the engine understood a request and refused it, so that a retry would not help. */
export class EngineRefusal extends Error {
	override name = "EngineRefusal";
	readonly status: number;

	constructor(problem: string, status: number) {
		super(problem);
		this.status = status;
	}
}

export function connectEngineAdmin({ adminUrl }: { adminUrl: string }): EngineAdmin {
	async function ask(method: string, path: string, body?: object): Promise<unknown> {
		const response = await fetch(new URL(path, adminUrl), {
			method,
			headers: { accept: "application/json", "content-type": "application/json" },
			...(body && { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(timeoutMs),
		});
		const text = await response.text();
		if (response.ok) return text === "" ? undefined : JSON.parse(text);
		if (response.status === 404) return undefined;
		const problem = `the engine at ${new URL(adminUrl).origin} answered ${response.status} to ${method} ${path}: ${text}`;
		throw response.status < 500 ? new EngineRefusal(problem, response.status) : new Error(problem);
	}

	async function unfinished(condition: string): Promise<string[]> {
		const query = `select id from sys_invocation where status <> 'completed' and (${condition})`;
		return invocationsSchema.parse(await ask("POST", "/query", { query })).rows.map(({ id }) => id);
	}

	return {
		readDeployments: async () => {
			const { deployments } = deploymentsSchema.parse(await ask("GET", "/deployments"));
			return deployments.flatMap(({ id, uri }) => (uri === undefined ? [] : [{ id, url: uri }]));
		},
		newestDeployment: async () => {
			const service = await ask("GET", "/services/round");
			return service === undefined ? undefined : serviceSchema.parse(service).deployment_id;
		},
		register: async (url) =>
			registeredSchema.parse(await ask("POST", "/deployments", { uri: url, force: true })).id,
		// Before its first answer is recorded, an invocation runs without being pinned to a deployment.
		unfinishedOn: (deploymentId) =>
			unfinished(
				`pinned_deployment_id = ${quote(deploymentId)}
				or pinned_deployment_id is null and last_attempt_deployment_id = ${quote(deploymentId)}`,
			),
		unfinishedOfRetiredServices: () => unfinished("target_service_name = 'swap'"),
		kill: async (invocationId) => {
			await ask("PATCH", `/invocations/${invocationId}/kill`).catch((error: unknown) => {
				// The invocation has already ended.
				if (!(error instanceof EngineRefusal && error.status === 409)) throw error;
			});
		},
		removeDeployment: async (deploymentId) => {
			await ask("DELETE", `/deployments/${deploymentId}?force=true`);
		},
	};
}

function quote(text: string): string {
	return `'${text.replaceAll("'", "''")}'`;
}

const requestTimeoutMs = 1_000;

/** Throws unless the engine's ingress reports that it is healthy. */
export async function requestEngine({ ingressUrl }: { ingressUrl: string }): Promise<void> {
	const response = await fetch(new URL("/restate/health", ingressUrl), {
		signal: AbortSignal.timeout(requestTimeoutMs),
	});
	// The connection is reused only if the body is read.
	await response.text();
	if (!response.ok) throw new Error(`the engine answered ${response.status}`);
}
