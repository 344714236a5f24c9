import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { makeBudget } from "../test/make-budget.ts";
import { makeIntent } from "../test/op-fixture.ts";
import { type BudgetTerms, openLedger, worstOutput } from "./budget-ledger.ts";
import { fileStore } from "./file-store.ts";
import { memoryStore } from "./swap-store.ts";

const folder = mkdtempSync(join(tmpdir(), "geoswap-budget-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hourMs = 3_600_000;

function makeTerms(id: string, changes: Partial<BudgetTerms> = {}): BudgetTerms {
	const { originChain, destinationChain, inputToken, outputToken, recipient = "" } = makeIntent();
	return {
		id,
		originChain: Number(originChain),
		destinationChain: Number(destinationChain),
		inputToken,
		outputToken,
		amount: 10_000_000n,
		minOutput: 9_900_000n,
		recipient,
		...changes,
	};
}

function openAt(startMs: number, store = memoryStore()) {
	const clock = { ms: startMs };
	return { clock, store, ledger: openLedger({ budget: makeBudget(), store, nowMs: () => clock.ms }) };
}

test.each<[string, Partial<BudgetTerms>]>([
	["route", { outputToken: `0x${"99".repeat(20)}` }],
	["route", { inputToken: `0x${"99".repeat(20)}` }],
	["route", { destinationChain: 31337 }],
	["recipient", { recipient: `0x${"99".repeat(20)}` }],
	["perSwap", { amount: 10_000_001n, minOutput: 10_000_000n }],
	["perSwap", { amount: 0n }],
	["perSwap", { amount: -1n }],
	["worstPrice", { minOutput: 9_699_999n }],
])("a swap outside the budget is refused and reserves nothing: %s", async (limit, changes) => {
	const { ledger } = openAt(0);
	const terms = makeTerms("one", changes);
	const refusal = { code: "BUDGET_REFUSED", details: { limit } };
	expect(await errorOf(ledger.check(terms))).toMatchObject(refusal);
	expect(await errorOf(ledger.reserve(terms))).toMatchObject(refusal);
	expect(await ledger.list()).toEqual([]);
});

test("the lowest accepted output is rounded up", () => {
	const { originChain, destinationChain, inputToken, outputToken } = makeTerms("one");
	const pair = { originChain, destinationChain, inputToken, outputToken };
	expect(worstOutput(makeBudget(), { ...pair, amount: 1n })).toBe(1n);
	expect(worstOutput(makeBudget(), { ...pair, amount: 10_000_001n })).toBe(9_700_001n);
	expect(worstOutput(makeBudget(), { ...pair, destinationChain: 1, amount: 1n })).toBeUndefined();
});

test("in any 24 hours no more than the budget of a day is reserved", async () => {
	const { ledger, clock } = openAt(1_000 * hourMs);
	await ledger.reserve(makeTerms("one"));
	clock.ms += 12 * hourMs;
	await ledger.reserve(makeTerms("two"));
	expect(await errorOf(ledger.reserve(makeTerms("three")))).toMatchObject({
		details: { limit: "perDay", used: "20000000" },
		retryable: true,
	});
	clock.ms += 12 * hourMs - 1;
	expect(await errorOf(ledger.reserve(makeTerms("three")))).toMatchObject({ details: { limit: "perDay" } });
	clock.ms += 1;
	await ledger.reserve(makeTerms("three"));
	expect(await ledger.left({ chainId: 31337, token: makeTerms("one").inputToken })).toBe(5_000_000n);
});

test("setting the clock back frees no part of the budget", async () => {
	const { ledger, clock } = openAt(1_000 * hourMs);
	await ledger.reserve(makeTerms("one"));
	await ledger.reserve(makeTerms("two"));
	clock.ms = 0;
	expect(await errorOf(ledger.reserve(makeTerms("three")))).toMatchObject({ details: { limit: "perDay" } });
});

test("the same id counts once, with its largest amount, from its latest reservation on", async () => {
	const { ledger, clock } = openAt(1_000 * hourMs);
	await ledger.reserve(makeTerms("one"));
	clock.ms += 23 * hourMs;
	await ledger.reserve(makeTerms("one", { amount: 1_000_000n, minOutput: 990_000n }));
	clock.ms += 23 * hourMs;
	expect(await ledger.list()).toMatchObject([{ id: "one", amount: 10_000_000n }]);
});

test("a reservation is released only by its own receipt", async () => {
	const { ledger } = openAt(0);
	const first = await ledger.reserve(makeTerms("one"));
	const second = await ledger.reserve(makeTerms("one"));
	await ledger.release(first);
	expect(await ledger.list()).toEqual([second]);
	await ledger.release(second);
	expect(await ledger.list()).toEqual([]);
});

test("100 concurrent reservations, by four ledgers on the same files, stay within the budget", async () => {
	const ledgers = Array.from({ length: 4 }, () =>
		openLedger({ budget: makeBudget(), store: fileStore(join(folder, "shared")) }),
	);
	const made = await Promise.allSettled(
		Array.from({ length: 100 }, async (_, i) => ledgers[i % 4]?.reserve(makeTerms(`swap-${i}`))),
	);
	expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
	const again = openLedger({ budget: makeBudget(), store: fileStore(join(folder, "shared")) });
	expect(await again.list()).toHaveLength(2);
});

test("a ledger that cannot be read refuses everything", async () => {
	const store = fileStore(join(folder, "damaged"));
	const ledger = openLedger({ budget: makeBudget(), store });
	await ledger.reserve(makeTerms("one"));
	const path = join(folder, "damaged", "spent.json");
	const text = readFileSync(path, "utf8");
	for (const damaged of ["", text.slice(0, -5), text.replace('"10000000"', "1e7"), '{"version":2}']) {
		writeFileSync(path, damaged);
		expect(await errorOf(ledger.reserve(makeTerms("two")))).toMatchObject({
			code: "BUDGET_REFUSED",
			details: { limit: "ledger" },
		});
	}
});
