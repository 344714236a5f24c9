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
	/** Every deployment that the engine knows, and where it is. */
	readDeployments: () => Promise<{ id: string; url: string }[]>;
	/** The deployment on which pumps begin now. */
	newestDeployment: () => Promise<string | undefined>;
	/** Makes the deployment at this address the newest, and looks at its code again. */
	register: (url: string) => Promise<string>;
	/** Ids of the invocations that began on a deployment and have not ended. The engine retries them there only. */
	unfinishedOn: (deploymentId: string) => Promise<string[]>;
	/** Ids of the unfinished invocations of services that this version does not have any more. */
	unfinishedOfRetiredServices: () => Promise<string[]>;
	/** Ends an invocation. Nothing happens if it has ended. A pump that runs for it in a process runs on. */
	kill: (invocationId: string) => Promise<void>;
	/** Invocations that have not ended there would be stuck for good. */
	removeDeployment: (deploymentId: string) => Promise<void>;
};

/** An engine that understood and refuses: it will not change its mind. */
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
		// Before its first answer is written down, an invocation is pinned nowhere but runs all the same.
		unfinishedOn: (deploymentId) =>
			unfinished(
				`pinned_deployment_id = ${quote(deploymentId)}
				or pinned_deployment_id is null and last_attempt_deployment_id = ${quote(deploymentId)}`,
			),
		unfinishedOfRetiredServices: () => unfinished("target_service_name = 'swap'"),
		kill: async (invocationId) => {
			await ask("PATCH", `/invocations/${invocationId}/kill`).catch((error: unknown) => {
				// It has ended.
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
