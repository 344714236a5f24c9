import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import {
	liftPauses,
	pauseChain,
	pauseForBreaches,
	readAcceptedBreaches,
	readFinalityBreak,
	readLiftedPauses,
	readPauses,
} from "./pauses.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
});
afterAll(() => database.drop());

const nowMs = 1_800_000_000_000;

test("a chain is paused once per cause until that is lifted, and can be paused again afterwards", async () => {
	const { pool } = database;
	const breach = { chainId: 1, cause: "breach", reason: "I2: the vault is short" } as const;
	const all = await Promise.all(Array.from({ length: 8 }, () => pauseChain(pool, { ...breach, nowMs })));
	expect(all.filter((isNew) => isNew)).toHaveLength(1);
	expect(await pauseChain(pool, { ...breach, reason: "another", nowMs: nowMs + 1 })).toBe(false);
	expect(await pauseChain(pool, { chainId: 1, cause: "finality", reason: "gone back", nowMs })).toBe(true);
	const [finality, ...others] = (await readPauses(pool)).toSorted((a, b) => b.cause.localeCompare(a.cause));
	expect(others).toEqual([{ ...breach, setBy: "geoswapd worker", since: new Date(nowMs), breaches: [] }]);
	expect(finality).toMatchObject({ cause: "finality", reason: "gone back", setBy: "geoswapd worker" });
	const lift = { chainId: 1, by: "ada", reason: "the money is back", nowMs: nowMs + 5_000 };
	expect(await liftPauses(pool, { ...lift, cause: "breach" })).toMatchObject([{ cause: "breach" }]);
	expect(await liftPauses(pool, { ...lift, cause: "breach" })).toEqual([]);
	expect(await readPauses(pool)).toMatchObject([{ cause: "finality" }]);
	expect(await pauseChain(pool, { ...breach, nowMs: nowMs + 6_000 })).toBe(true);
	expect(await liftPauses(pool, lift)).toMatchObject([{ cause: "breach" }]);
	// Lifting a finality pause takes back what was final, so it is never lifted without its cause.
	expect(await readPauses(pool)).toMatchObject([{ cause: "finality" }]);
	expect(await liftPauses(pool, { ...lift, cause: "finality" })).toMatchObject([{ cause: "finality" }]);
	expect(await readPauses(pool)).toEqual([]);
	expect((await readLiftedPauses(pool, { limit: 2 }))[0]).toMatchObject({
		liftedBy: "ada",
		liftedReason: "the money is back",
		liftedAt: new Date(nowMs + 5_000),
	});
});

test("the record of a pause, and of the person who lifted it, cannot be changed", async () => {
	const { pool } = database;
	await pauseChain(pool, { chainId: 2, cause: "operator", reason: "a test", setBy: "ada", nowMs });
	await liftPauses(pool, { chainId: 2, by: "ada", reason: "done", nowMs });
	await expect(pool.query("delete from pauses")).rejects.toThrow("kept for good");
	await expect(pool.query("update pauses set lifted_by = 'eve'")).rejects.toThrow("kept for good");
	await pauseChain(pool, { chainId: 3, cause: "operator", reason: "a test", setBy: "ada", nowMs });
	const change = pool.query("update pauses set reason = 'none' where lifted_at is null");
	await expect(change).rejects.toThrow("kept for good");
});

test("breaches are added to an open pause, and count as accepted once it is lifted", async () => {
	const { pool } = database;
	const pause = { chainId: 9, reason: "short", nowMs };
	expect(await pauseForBreaches(pool, { ...pause, breaches: ["I2 a"] })).toBe(true);
	expect(await pauseForBreaches(pool, { ...pause, breaches: ["I2 a", "I3 b"] })).toBe(false);
	const open = (await readPauses(pool)).find(({ chainId }) => chainId === 9);
	expect(open).toMatchObject({ setBy: "geoswapd audit", breaches: ["I2 a", "I3 b"] });
	expect(await readAcceptedBreaches(pool)).toEqual(new Set());
	await liftPauses(pool, { chainId: 9, by: "ada", reason: "known", nowMs });
	expect(await readAcceptedBreaches(pool)).toEqual(new Set(["I2 a", "I3 b"]));
});

test("a breach that was accepted while an audit ran does not pause its chain again, and another one does", async () => {
	const { pool } = database;
	const pause = { chainId: 11, reason: "short", nowMs };
	const lift = { chainId: 11, by: "ada", reason: "known", nowMs };
	await pauseForBreaches(pool, { ...pause, breaches: ["I6 a"] });
	await liftPauses(pool, { ...lift, breaches: ["I6 b"] });
	const ofChain = async () => (await readPauses(pool)).filter(({ chainId }) => chainId === 11);
	expect(await pauseForBreaches(pool, { ...pause, breaches: ["I6 a", "I6 b"] })).toBe(false);
	expect(await ofChain()).toEqual([]);
	expect(await pauseForBreaches(pool, { ...pause, breaches: ["I6 b", "I6 c"] })).toBe(true);
	expect(await ofChain()).toMatchObject([{ breaches: ["I6 c"] }]);
	await liftPauses(pool, lift);
});

test("a lift accepts only the breaches that were shown, and one added meanwhile keeps the pause open", async () => {
	const { pool } = database;
	const pause = { chainId: 10, reason: "short", nowMs };
	const lift = { chainId: 10, by: "ada", reason: "known", nowMs };
	await pauseForBreaches(pool, { ...pause, breaches: ["I2 a"] });
	await pauseForBreaches(pool, { ...pause, breaches: ["I3 b"] });
	await pauseChain(pool, { chainId: 10, cause: "operator", reason: "a test", nowMs });
	expect(await liftPauses(pool, { ...lift, seen: ["I2 a"] })).toMatchObject([{ cause: "operator" }]);
	expect((await readPauses(pool)).find(({ chainId }) => chainId === 10)?.breaches).toEqual(["I2 a", "I3 b"]);
	const lifted = await liftPauses(pool, { ...lift, seen: ["I2 a", "I3 b", "I4 c"], breaches: ["I4 c"] });
	expect(lifted).toMatchObject([{ cause: "breach", breaches: ["I2 a", "I3 b", "I4 c"] }]);
});

test("whether broken finality was accepted for the current head does not depend on a worker's clock", async () => {
	const { pool } = database;
	await pool.query("insert into chain_heads values (7, 100, '', 0, 1, 90, 0, 0, 0)");
	const broken = { chainId: 7, cause: "finality", reason: "gone back" } as const;
	const lift = { chainId: 7, cause: "finality", by: "ada", reason: "seen" } as const;
	for (const skewMs of [-3_600_000, 3_600_000]) {
		await pool.query("update chain_heads set updated_at = now() where chain_id = 7");
		expect(await readFinalityBreak(pool, 7)).toBe("unknown");
		await pauseChain(pool, { ...broken, nowMs: Date.now() + skewMs });
		expect(await readFinalityBreak(pool, 7)).toBe("paused");
		await liftPauses(pool, { ...lift, nowMs: Date.now() });
		expect(await readFinalityBreak(pool, 7)).toBe("accepted");
	}
	await pool.query("update chain_heads set updated_at = now() where chain_id = 7");
	expect(await readFinalityBreak(pool, 7)).toBe("unknown");
});
