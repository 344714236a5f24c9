import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type DatabasePool, openDatabase } from "../src/store/database.ts";
import { ensurePartitions } from "../src/store/ensure-partitions.ts";
import { migrate } from "../src/store/migrate.ts";

const serverUrl = inject("postgresUrl");

export type TestDatabase = { url: string; pool: DatabasePool; drop: () => Promise<void> };

/** A database of the test's own, migrated, on the run's PostgreSQL. */
export async function createTestDatabase(): Promise<TestDatabase> {
	const name = `geoswap_test_${randomBytes(6).toString("hex")}`;
	await onServer(`create database ${name}`);
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	const pool = openDatabase({ url: url.href, applicationName: "test" });
	await migrate(pool);
	await ensurePartitions(pool, { nowMs: Date.now(), daysAhead: 1 });
	return {
		url: url.href,
		pool,
		drop: async () => {
			await pool.end();
			await onServer(`drop database ${name} with (force)`);
		},
	};
}

async function onServer(sql: string): Promise<void> {
	const client = new pg.Client({ connectionString: serverUrl });
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
}
