import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { portSource, startPostgres, startRedis } from "@geoswap/devnet";
import type { TestProject } from "vitest/node";

declare module "vitest" {
	interface ProvidedContext {
		postgresUrl: string;
		redisUrl: string;
	}
}

/** Starts a PostgreSQL and a Redis for one run of the tests, unless the environment contains URLs of others. */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
	const { DATABASE_URL, REDIS_URL } = process.env;
	const dataDir = mkdtempSync(join(tmpdir(), "geoswap-test-"));
	const freePort = portSource();
	const logFile = (name: string) => join(dataDir, `${name}.log`);
	const postgres = DATABASE_URL
		? undefined
		: await startPostgres({ dataDir, logFile: logFile("postgres"), port: await freePort() });
	const redis = REDIS_URL
		? undefined
		: await startRedis({ logFile: logFile("redis"), port: await freePort() });
	project.provide("postgresUrl", DATABASE_URL ?? postgres?.url ?? "");
	project.provide("redisUrl", REDIS_URL ?? redis?.url ?? "");
	return async () => {
		await Promise.all([postgres?.stop(), redis?.stop()]);
		rmSync(dataDir, { recursive: true, force: true });
	};
}
