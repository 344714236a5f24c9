import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import type { Breach, Report } from "../../audit/read/report.ts";
import { pauseForBreaches, readPauses } from "../../swap/pause/pauses.ts";
import type { auditBooks } from "../reconcile/audit-books.ts";
import { liftPauseCommand } from "./pauses-commands.ts";

const chainId = 8_453;
let database: TestDatabase;
const audit = vi.fn<typeof auditBooks>();
const said: string[] = [];

beforeAll(async () => {
	database = await createTestDatabase({ as: "owner" });
	vi.stubEnv("DATABASE_URL", database.url);
	for (const method of ["log", "error"] as const)
		vi.spyOn(console, method).mockImplementation((line: string) => void said.push(line));
});
beforeEach(() => {
	said.length = 0;
});
afterAll(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await database?.drop();
});

const pause = (...breaches: string[]) =>
	pauseForBreaches(database.pool, { chainId, reason: "short", breaches, nowMs: Date.now() });
const lift = (options: { json?: boolean } = {}) =>
	liftPauseCommand(
		{ chainId: String(chainId), by: "ada", reason: "a test", config: "none.json", ...options },
		audit,
	);
const openBreaches = async () => (await readPauses(database.pool)).map(({ breaches }) => breaches);

/** Sets the breaches that the next audit finds, and what happens while it runs. */
function audited(breaches: Pick<Breach, "invariant" | "message">[], meanwhile = async () => {}): void {
	audit.mockImplementationOnce(async () => {
		await meanwhile();
		const of = breaches.map((breach) => ({ ...breach, chainIds: [chainId], next: "look" }));
		return { breaches: of, unchecked: [] } as unknown as Report;
	});
}

test("a breach that the auditor adds during a lift is shown and not accepted, and the next lift accepts it", async () => {
	await pause("I2 the vault is short");
	audited([{ invariant: "I2", message: "the vault is short" }], async () => {
		await pause("I3 delivered twice");
	});
	expect(await lift()).toBe(4);
	expect(await openBreaches()).toEqual([["I2 the vault is short", "I3 delivered twice"]]);
	expect(said.join("\n")).toMatch(/not lifted.*more.*\n.*I3 delivered twice/s);
	expect(said.join("\n")).not.toMatch(/^lifted/m);

	audited([]);
	expect(await lift()).toBe(0);
	expect(await openBreaches()).toEqual([]);
});

test("a breach that the lift's own audit found is accepted, even if the auditor adds it too", async () => {
	await pause("I2 the vault is shorter");
	audited([{ invariant: "I3", message: "delivered again" }], async () => {
		await pause("I3 delivered again");
	});
	expect(await lift()).toBe(0);
	expect(await openBreaches()).toEqual([]);
	expect(said.join("\n")).toContain("STILL BREACHED I3 delivered again");
});

test("the JSON of a lift that was refused has the whole list of breaches", async () => {
	await pause("I2 a");
	audited([], async () => {
		await pause("I3 b");
	});
	expect(await lift({ json: true })).toBe(4);
	expect(JSON.parse(said[0] ?? "")).toMatchObject({
		chainId,
		lifted: [],
		stillBreached: [],
		notLifted: [{ cause: "breach", breaches: ["I2 a", "I3 b"] }],
	});
});
