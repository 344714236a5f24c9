import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type DatabasePool, openDatabase } from "../../src/database/database.ts";
import { ensurePartitions, migrate } from "../../src/database/migrate.ts";
import type { DatabaseRoles } from "../../src/database/roles/grant-roles.ts";
import { type RoleName, roleNames } from "../../src/database/roles/grants.ts";

const serverUrl = inject("postgresUrl");

type Login = RoleName | "owner";

export type TestDatabase = {
	/** The login with the rights of the process under test. */
	url: string;
	pool: DatabasePool;
	/** A pool with all rights, for facts that a test arranges and its process could not write. */
	owner: DatabasePool;
	urls: Record<Login, string>;
	pools: Record<Login, DatabasePool>;
	roles: DatabaseRoles;
	drop: () => Promise<void>;
};

/** Creates a migrated database for the test alone on the run's PostgreSQL, with the logins of every process. */
export async function createTestDatabase({ as = "worker" }: { as?: Login } = {}): Promise<TestDatabase> {
	const name = `geoswap_test_${randomBytes(6).toString("hex")}`;
	await onServer(`create database ${name}`);
	const rolesOf = (role: RoleName) => `${name}_${role}`;
	const roles: DatabaseRoles = {
		api: rolesOf("api"),
		worker: rolesOf("worker"),
		auditor: rolesOf("auditor"),
		console: rolesOf("console"),
	};
	const password = randomBytes(12).toString("hex");
	const urlOf = (login: Login) => {
		const url = new URL(serverUrl);
		url.pathname = `/${name}`;
		if (login !== "owner") [url.username, url.password] = [roles[login], password];
		return url.href;
	};
	const urls = {
		owner: urlOf("owner"),
		api: urlOf("api"),
		worker: urlOf("worker"),
		auditor: urlOf("auditor"),
		console: urlOf("console"),
	};
	const poolOf = (login: Login) => openDatabase({ url: urls[login], applicationName: `test ${login}` });
	// Each pool connects when it is first used.
	const pools = {
		owner: poolOf("owner"),
		api: poolOf("api"),
		worker: poolOf("worker"),
		auditor: poolOf("auditor"),
		console: poolOf("console"),
	};
	await migrate(pools.owner, { roles });
	await pools.owner.query(
		roleNames.map((role) => `alter role ${roles[role]} password '${password}'`).join(";"),
	);
	await ensurePartitions(pools.owner, { nowMs: Date.now(), daysAhead: 1 });
	return {
		url: urls[as],
		pool: pools[as],
		owner: pools.owner,
		urls,
		pools,
		roles,
		drop: async () => {
			await Promise.all(Object.values(pools).map((pool) => pool.end()));
			await onServer(`drop database ${name} with (force)`);
			await onServer(`drop role ${Object.values(roles).join(", ")}`);
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
