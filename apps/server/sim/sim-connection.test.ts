import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openSimConnection, type SimConnection } from "./sim-connection.ts";

let connection: SimConnection;
beforeAll(async () => {
	connection = await openSimConnection({ connectionString: inject("postgresUrl") });
	await connection.script("create temporary table things (n int primary key, what text)");
});
afterAll(() => connection.end());

test("deferred statements run in order before the next statement", async () => {
	connection.later("begin");
	connection.later("set transaction isolation level repeatable read");
	connection.later("insert into things values (1, 'one')");
	const { rows, rowCount } = await connection.run("select n, what from things where what = $1", ["one"]);
	expect(rows).toEqual([{ n: 1, what: "one" }]);
	expect(rowCount).toBe(1);
	connection.later("rollback");
	expect((await connection.run("select n, what from things where what = $1", ["one"])).rows).toEqual([]);
});

test("a statement that fails throws its error and can be run again", async () => {
	const insert = () => connection.run("insert into things values ($1, null)", [2]);
	await insert();
	await expect(insert()).rejects.toMatchObject({ code: "23505" });
	await connection.run("delete from things");
	expect(await insert()).toMatchObject({ command: "INSERT", rowCount: 1, rows: [] });
	await expect(connection.run("select nonsense")).rejects.toMatchObject({ code: "42703" });
	expect((await connection.run("select n, what from things")).rows).toEqual([{ n: 2, what: null }]);
});

test("a flush runs the deferred statements", async () => {
	connection.later("delete from things");
	await connection.flush();
	expect((await connection.script("select n from things")).rows).toEqual([]);
});
