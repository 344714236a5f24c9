import type { SwapUuid } from "@geoswap/protocol";
import { expect, test } from "vitest";
import type { Database } from "../../database/database.ts";
import { createSwapReader } from "./swap-reader.ts";

/** Creates a database whose queries the test resolves. */
function slowDatabase() {
	const queries: { ids: string[]; answer: PromiseWithResolvers<{ rows: unknown[] }> }[] = [];
	const query = ({ values: [ids] }: { values: [string[]] }) => {
		const answer = Promise.withResolvers<{ rows: unknown[] }>();
		queries.push({ ids, answer });
		return answer.promise;
	};
	return { db: { query } as unknown as Database, queries };
}

test("concurrent reads share a few queries, each swap once, and a later read sees later data", async () => {
	const { db, queries } = slowDatabase();
	const reader = createSwapReader({ db, maxQueries: 2, maxInQuery: 3 });
	const asked = ["a", "b", "c", "d", "d", "e", "f", "a"].map((uuid) => reader.read(uuid as SwapUuid));
	expect(queries.map(({ ids }) => ids)).toEqual([["a"], ["b"]]);
	queries[0]?.answer.resolve({ rows: [] });
	await asked[0];
	// The last call requested `a` while it was already being read, so `a` is read again.
	await expect.poll(() => queries.length).toBe(3);
	expect(queries[2]?.ids).toEqual(["c", "d", "e"]);
	queries[1]?.answer.resolve({ rows: [] });
	await expect.poll(() => queries.length).toBe(4);
	expect(queries[3]?.ids).toEqual(["f", "a"]);
	for (const { answer } of queries) answer.resolve({ rows: [] });
	expect(await Promise.all(asked)).toEqual(Array(8).fill(undefined));
	expect(queries).toHaveLength(4);
});

test("a failed query fails only the reads that are in it", async () => {
	const { db, queries } = slowDatabase();
	const reader = createSwapReader({ db, maxQueries: 1 });
	const [first, second] = [reader.read("a" as SwapUuid), reader.read("b" as SwapUuid)];
	queries[0]?.answer.reject(new Error("gone"));
	await expect(first).rejects.toThrow("gone");
	await expect.poll(() => queries.length).toBe(2);
	queries[1]?.answer.resolve({ rows: [] });
	expect(await second).toBeUndefined();
});

test("a row that cannot be parsed fails only its own reader, and not the others of the query", async () => {
	const { db, queries } = slowDatabase();
	const reader = createSwapReader({ db, maxQueries: 1 });
	const first = reader.read("a" as SwapUuid);
	const [broken, missing] = [reader.read("b" as SwapUuid), reader.read("c" as SwapUuid)];
	queries[0]?.answer.resolve({ rows: [] });
	await first;
	await expect.poll(() => queries.length).toBe(2);
	queries[1]?.answer.resolve({ rows: [{ id: "b", order_id: new Uint8Array(32), order_terms: {} }] });
	await expect(broken).rejects.toThrow();
	expect(await missing).toBeUndefined();
});
