import type { SolanaDeployment } from "@geoswap/protocol";
import { Redis } from "ioredis";
import type { Config } from "../../config.ts";
import { askEngine } from "../../durable/ask-engine.ts";
import { connectEngineAdmin } from "../../durable/engine-admin.ts";
import { expectNamedKeys } from "../../expect-named-keys.ts";
import { openDatabase } from "../../store/database.ts";
import { pendingMigrations } from "../../store/migrate.ts";
import { check, type Finding, fail, ok, warn } from "./finding.ts";

/** The database, Redis and the engine. What has no address in the environment was told of already. */
export async function checkServices(
	{ restate, solana }: Pick<Config, "restate" | "solana">,
	{ processes }: { processes: ReadonlySet<string> },
): Promise<Finding[]> {
	const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
	const findings = await Promise.all([
		databaseUrl
			? check("PostgreSQL", () =>
					askDatabase(databaseUrl, { solana: processes.has("worker") ? solana?.deployment : undefined }),
				)
			: [],
		redisUrl && processes.has("api") ? check("Redis", () => askRedis(redisUrl)) : [],
		check("Restate ingress", async () => {
			await askEngine(restate);
			return ok("answers");
		}),
		check("Restate admin", async () => {
			const newest = await connectEngineAdmin(restate).newestDeployment();
			return newest === undefined
				? warn("answers; no worker has registered yet: swaps wait until one does")
				: ok(`answers; swaps begin on ${newest}`);
		}),
	]);
	return findings.flat();
}

async function askDatabase(url: string, { solana }: { solana: SolanaDeployment | undefined }) {
	const pool = openDatabase({ url, applicationName: "geoswapd config check", max: 1 });
	try {
		const pending = await pendingMigrations(pool);
		if (pending.length > 0) return fail(`lacks ${pending.join(", ")}: run geoswapd migrate`);
		if (solana) await expectNamedKeys(pool, solana);
		return ok("answers, and its schema is up to date");
	} finally {
		await pool.end();
	}
}

async function askRedis(url: string) {
	const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
	// Unheard, it would be printed.
	redis.on("error", () => {});
	try {
		await redis.connect();
		await redis.ping();
		return ok("answers");
	} finally {
		redis.disconnect();
	}
}
