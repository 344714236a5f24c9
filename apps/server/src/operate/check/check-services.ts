import { Redis } from "ioredis";
import type { Config } from "../../config/config.ts";
import { metricsUrlsOf } from "../../config/config-problems.ts";
import { readOptionalSecret, type SecretName } from "../../config/secrets.ts";
import { openDatabase } from "../../database/database.ts";
import type { RoleName } from "../../database/roles/grants.ts";
import { connectEngineAdmin, requestEngine } from "../../durable/engine-admin.ts";
import { expectDatabase, urlVariables } from "../../preflight/expect-database.ts";
import { expectOpenSwaps } from "../../preflight/expect-open-swaps.ts";
import { check, type Finding, ok, warn } from "./finding.ts";

/** Checks the services that these processes use. */
export async function checkServices(
	config: Pick<
		Config,
		"restate" | "chains" | "deployment" | "earlierAttesterSets" | "database" | "worker" | "audit" | "console"
	>,
	{ processes }: { processes: ReadonlySet<string> },
): Promise<Finding[]> {
	const { restate } = config;
	const redisUrl = readAddress("REDIS_URL");
	const hasEngine = processes.has("api") || processes.has("worker");
	const logins: RoleName[] = [
		...(processes.has("api") ? (["api"] as const) : []),
		...(processes.has("worker") ? (["worker"] as const) : []),
		...(processes.has("audit") ? (["auditor"] as const) : []),
		...(processes.has("console") ? (["console"] as const) : []),
	];
	const findings = await Promise.all([
		...logins.map((role) => {
			const url = readAddress(urlVariables[role]);
			if (!url) return [];
			return check(`PostgreSQL as ${role}`, () => askDatabase(url, { role, config }));
		}),
		redisUrl && processes.has("api") ? check("Redis", () => askRedis(redisUrl)) : [],
		hasEngine ? checkEngine(restate) : [],
		processes.has("console") ? checkWorkerMetrics(config) : [],
	]);
	return findings.flat();
}

/** Returns an address from the environment. A missing or unreadable address is reported among the secrets. */
function readAddress(name: SecretName): string | undefined {
	try {
		return readOptionalSecret(name);
	} catch {
		return undefined;
	}
}

async function checkEngine(restate: Config["restate"]): Promise<Finding[]> {
	const findings = await Promise.all([
		check("Restate ingress", async () => {
			await requestEngine(restate);
			return ok("answers");
		}),
		check("Restate admin", async () => {
			const newest = await connectEngineAdmin(restate).newestDeployment();
			return newest === undefined
				? warn("answers, but no worker has registered yet; swaps wait until one does")
				: ok(`answers; new swaps run on ${newest}`);
		}),
	]);
	return findings.flat();
}

/** Checks the metrics of workers and the audit that the console shows. The console works without them. */
async function checkWorkerMetrics({
	console: pages,
	worker,
	audit,
}: Pick<Config, "console" | "worker" | "audit">): Promise<Finding[]> {
	const urls = pages ? metricsUrlsOf({ console: pages, worker, audit }) : [];
	if (urls.length === 0) {
		const nothing = "worker.metrics is not set, so the console cannot show the state of nodes and relayers";
		return check("workers' metrics", async () => warn(nothing));
	}
	const findings = await Promise.all(
		urls.map((url) =>
			check(`metrics at ${new URL(url).host}`, () =>
				fetch(url).then(
					({ status }) => (status === 200 ? ok("answer") : warn(`are answered with ${status}`)),
					() => warn("do not answer, so the console cannot show the state of nodes and relayers"),
				),
			),
		),
	);
	return findings.flat();
}

async function askDatabase(
	url: string,
	{
		role,
		config,
	}: { role: RoleName; config: Pick<Config, "chains" | "deployment" | "earlierAttesterSets" | "database"> },
) {
	const pool = openDatabase({ url, applicationName: "geoswapd config check", max: 1 });
	try {
		await expectDatabase(pool, role, config.database.roles);
		if (role === "api" || role === "worker") await expectOpenSwaps(pool, config, { role });
		return ok("answers, and its schema is up to date");
	} finally {
		await pool.end();
	}
}

async function askRedis(url: string) {
	const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
	// Without a listener, the client would print the error itself.
	redis.on("error", () => {});
	try {
		await redis.connect();
		await redis.ping();
		return ok("answers");
	} finally {
		redis.disconnect();
	}
}
