import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { openDatabase } from "../database/database.ts";
import { roleNames } from "../database/roles/grants.ts";
import { expectDatabase } from "./expect-database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase();
});
afterAll(() => database.drop());

test("each process accepts a login of its role, and of no other", async () => {
	const { pools, roles } = database;
	for (const role of roleNames) {
		for (const login of roleNames) {
			const started = expectDatabase(pools[login], role, roles);
			if (login === role) await started;
			else await expect(started).rejects.toThrow(`which does not have the role ${roles[role]}`);
		}
	}
});

test("a login with more rights than its process needs is refused, and a login that was granted the role is accepted", async () => {
	const { owner, pools, roles, urls } = database;
	await expect(expectDatabase(owner, "api", roles)).rejects.toThrow(
		/^API_DATABASE_URL: logs in as \w+, which may change every table/,
	);
	const login = `${roles.api}_login`;
	await owner.query(`create role ${login} login password 'word' in role ${roles.api}`);
	const url = new URL(urls.api);
	[url.username, url.password] = [login, "word"];
	const granted = openDatabase({ url: url.href, applicationName: "test", max: 1 });
	try {
		await expectDatabase(granted, "api", roles);
		await owner.query(`grant ${roles.worker} to ${login}`);
		await expect(expectDatabase(granted, "api", roles)).rejects.toThrow(
			`which also has the role ${roles.worker}`,
		);
	} finally {
		await granted.end();
		await owner.query(`drop role ${login}`);
	}
	await expect(expectDatabase(pools.api, "api", { ...roles, api: "nobody" })).rejects.toThrow(
		"does not have the role nobody; run geoswapd migrate",
	);
});
