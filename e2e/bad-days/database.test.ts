import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, test, vi } from "vitest";
import { connectDatabase } from "../environment/connect-database.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { liveThrough } from "./live-through.ts";
import { type DatabasePair, startDatabasePair } from "./start-database-pair.ts";

let pair: DatabasePair;
beforeAll(async () => {
	pair = await startDatabasePair();
	// The stack gets a database on this server.
	vi.stubEnv("DATABASE_URL", pair.url);
});
afterAll(async () => {
	vi.unstubAllEnvs();
	await pair?.stop();
});

const stackOf = badDaysStack();

const always = async () => true;

test("when the database is read-only, nothing is accepted, swaps in flight wait, and making it writable ends the incident", async () => {
	const stack = stackOf();
	const { databaseUrl } = stack.environment;
	const name = new URL(databaseUrl).pathname.slice(1);
	await liveThrough(stack, {
		name: "The database is read-only",
		how: "`default_transaction_read_only` is set for the database, and all connections are ended",
		alert: "GeoswapDatabaseReadOnly",
		break: async () => {
			const database = await connectDatabase(databaseUrl);
			await database.query(`alter database ${name} set default_transaction_read_only = on`);
			await database.query(
				"select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()",
			);
			await database.end();
		},
		follow: async (page) => {
			await page.run('psql "$WORKER_DATABASE_URL"');
			await page.run("PGOPTIONS='-c default_transaction_read_only=off' psql", { DATABASE_NAME: name });
			await page.run('psql "$DATABASE_URL" -c "select pg_terminate_backend');
		},
		isOver: always,
	});
});

test("when the database's disk is full, nothing is accepted, swaps in flight wait, and a larger disk ends the incident", async () => {
	const stack = stackOf();
	const ballast = join(pair.disk, "ballast");
	await liveThrough(stack, {
		name: "The database's disk is full",
		how: "a file takes all that is left of the disk with the primary's data",
		alert: "GeoswapDatabaseFull",
		break: async () => fill(ballast),
		follow: async (page) => {
			await page.run("psql");
			await page.step("Make the disk larger", async () => {
				execFileSync("mount", ["-o", "remount,size=1200m", pair.disk]);
			});
		},
		isOver: always,
	});
	rmSync(ballast);
});

test("when the primary is lost, promoting its synchronous standby ends the incident, and no swap is lost", async () => {
	const stack = stackOf();
	await liveThrough(stack, {
		name: "The database fails over",
		how: "kill -9 of the primary; its synchronous standby is promoted by hand, behind a proxy",
		alert: "GeoswapDatabaseSilent",
		break: async () => {
			pair.primary.kill("SIGKILL");
			await pair.primary.exited();
		},
		follow: async (page) => {
			await page.run('psql "$WORKER_DATABASE_URL"', {}, { exitCode: 2 });
			await page.step("start or promote one", () => pair.promote());
		},
		isOver: always,
	});
});

/** Writes until the disk is full. */
function fill(file: string): void {
	writeFileSync(file, "");
	for (let size = 1 << 24; size >= 512; ) {
		try {
			appendFileSync(file, Buffer.alloc(size, 1));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
			size /= 2;
		}
	}
}
