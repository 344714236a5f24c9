import * as z from "zod";

const timeoutMs = 10_000;

const deploymentsSchema = z.object({
	deployments: z.array(z.object({ id: z.string(), uri: z.string().exactOptional() })),
});
const serviceSchema = z.object({ deployment_id: z.string() });
const registeredSchema = z.object({ id: z.string() });
const invocationSchema = z.object({
	id: z.string(),
	service: z.enum(["swap", "lane", "attestation"]),
	key: z.string(),
});
const unfinishedSchema = z.object({ rows: z.array(invocationSchema) });
const attemptedSchema = z.object({ rows: z.array(z.object({ id: z.string() })) });
const underWaySchema = z.object({
	rows: z.array(
		invocationSchema.extend({
			deploymentId: z.string(),
			status: z.enum(["backing-off", "running"]),
			journalSize: z.int(),
			problem: z.string(),
		}),
	),
});

/** An execution of ours that the engine has begun. */
export type Invocation = z.output<typeof invocationSchema>;

/** What the engine tells and does for whoever runs it, over its admin port. */
export type EngineAdmin = {
	/** The id of the deployment at this address. */
	findDeployment: (url: string) => Promise<string | undefined>;
	/** The deployment on which swaps begin now. */
	newestDeployment: () => Promise<string | undefined>;
	/** Makes the deployment at this address the newest, and looks at its code again. */
	register: (url: string) => Promise<string>;
	/** What began on a deployment and has not ended. It ends there and nowhere else. */
	unfinishedOn: (deploymentId: string) => Promise<Invocation[]>;
	/** What is tried on other deployments now, or will be again soon, and the last problem with it if there was one. */
	underWayElsewhere: (deploymentId: string) => Promise<z.output<typeof underWaySchema>["rows"]>;
	/**
	 * Ends an execution as it is. Nothing where it has ended. What runs of it in a process may run on. The engine
	 * remembers its key for as long as if it had ended by itself.
	 */
	kill: (invocationId: string) => Promise<void>;
	/** Executions that have not ended there would be stuck for good. */
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

	function query(select: string): Promise<unknown> {
		return ask("POST", "/query", { query: select });
	}

	return {
		findDeployment: async (url) => {
			const { deployments } = deploymentsSchema.parse(await ask("GET", "/deployments"));
			// The engine writes an address its own way.
			const { href } = new URL(url);
			return deployments.find(({ uri }) => uri !== undefined && new URL(uri).href === href)?.id;
		},
		newestDeployment: async () => {
			const service = await ask("GET", "/services/swap");
			return service === undefined ? undefined : serviceSchema.parse(service).deployment_id;
		},
		register: async (url) =>
			registeredSchema.parse(await ask("POST", "/deployments", { uri: url, force: true })).id,
		// Before its first answer is written down, an execution is pinned nowhere but runs all the same.
		unfinishedOn: async (deploymentId) => {
			const answer = await query(
				`select ${invocationColumns} from sys_invocation
				where ${isOurs} and status <> 'completed' and (pinned_deployment_id = ${quote(deploymentId)}
					or pinned_deployment_id is null and last_attempt_deployment_id = ${quote(deploymentId)})`,
			);
			return unfinishedSchema.parse(answer).rows;
		},
		underWayElsewhere: async (deploymentId) => {
			// Mostly there is nothing, and this is in the engine's memory: the other table has all that ended of late, too.
			const attempted = await query(
				`select id from sys_invocation_state
				where last_attempt_deployment_id is null or last_attempt_deployment_id <> ${quote(deploymentId)} limit 1`,
			);
			if (attemptedSchema.parse(attempted).rows.length === 0) return [];
			const answer = await query(
				`select ${invocationColumns}, coalesce(pinned_deployment_id, last_attempt_deployment_id) as "deploymentId",
					status, journal_size as "journalSize", coalesce(last_failure, '') as problem from sys_invocation
				where ${isOurs} and status in ('backing-off', 'running')
					and coalesce(pinned_deployment_id, last_attempt_deployment_id) <> ${quote(deploymentId)}`,
			);
			return underWaySchema.parse(answer).rows;
		},
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

const isOurs = "target_service_name in ('swap', 'lane', 'attestation')";
const invocationColumns = "id, target_service_name as service, target_service_key as key";

function quote(text: string): string {
	return `'${text.replaceAll("'", "''")}'`;
}
