import type { SolanaDeployment } from "@geoswap/protocol";
import { Redis } from "ioredis";
import { solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { openDatabase } from "../../database/database.ts";
import type { DatabaseRoles } from "../../database/roles/grant-roles.ts";
import type { RoleName } from "../../database/roles/grants.ts";
import { askEngine } from "../../durable/ask-engine.ts";
import { connectEngineAdmin } from "../../durable/engine-admin.ts";
import { expectDatabase, urlVariables } from "../preflight/expect-database.ts";
import { expectNamedKeys } from "../preflight/expect-named-keys.ts";
import { check, type Finding, ok, warn } from "./finding.ts";

/** Checks the database, Redis and the engine. An address that is missing in the environment is already reported. */
export async function checkServices(
	config: Pick<Config, "restate" | "chains" | "database">,
	{ processes }: { processes: ReadonlySet<string> },
): Promise<Finding[]> {
	const { restate, database } = config;
	const { REDIS_URL: redisUrl } = process.env;
	const logins: RoleName[] = [
		...(processes.has("api") ? (["api"] as const) : []),
		...(processes.has("worker") ? (["worker", "auditor"] as const) : []),
	];
	const findings = await Promise.all([
		...logins.map((role) => {
			const url = process.env[urlVariables[role]];
			if (!url) return [];
			const asked = {
				role,
				roles: database.roles,
				solana: role === "worker" ? solanaChain(config)?.deployment : undefined,
			};
			return check(`PostgreSQL as ${role}`, () => askDatabase(url, asked));
		}),
		redisUrl && processes.has("api") ? check("Redis", () => askRedis(redisUrl)) : [],
		check("Restate ingress", async () => {
			await askEngine(restate);
			return ok("answers");
		}),
		check("Restate admin", async () => {
			const newest = await connectEngineAdmin(restate).newestDeployment();
			return newest === undefined
				? warn("answers, but no worker has registered yet: swaps wait until one does")
				: ok(`answers; new swaps run on ${newest}`);
		}),
	]);
	return findings.flat();
}

async function askDatabase(
	url: string,
	{ role, roles, solana }: { role: RoleName; roles: DatabaseRoles; solana: SolanaDeployment | undefined },
) {
	const pool = openDatabase({ url, applicationName: "geoswapd config check", max: 1 });
	try {
		await expectDatabase(pool, role, roles);
		if (solana) await expectNamedKeys(pool, solana);
		return ok("answers, and its schema is up to date");
	} finally {
		await pool.end();
	}
}

async function askRedis(url: string) {
	const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
	// Without a listener, the error would be printed.
	redis.on("error", () => {});
	try {
		await redis.connect();
		await redis.ping();
		return ok("answers");
	} finally {
		redis.disconnect();
	}
}
