import { expect, test } from "vitest";
import { lookEveryMs } from "./follow-pause.ts";

const nobody = { isBusy: false, isWaitedFor: false, hasOpen: false };
const fast = { pollMs: 250, finalitySeconds: 900 };

test("a chain is read as often as its pending work requires, and rarely if nothing is pending", () => {
	expect(lookEveryMs(nobody, fast)).toBe(10_000);
	expect(lookEveryMs({ ...nobody, hasOpen: true }, fast)).toBe(2_000);
	expect(lookEveryMs({ ...nobody, isBusy: true }, fast)).toBe(250);
});

test("a swap that waits only for finality causes ten reads within that time, at most ten seconds apart", () => {
	const waits = { ...nobody, isWaitedFor: true };
	expect(lookEveryMs(waits, { pollMs: 250, finalitySeconds: 5 })).toBe(500);
	expect(lookEveryMs(waits, fast)).toBe(10_000);
	expect(lookEveryMs({ ...waits, hasOpen: true }, fast)).toBe(2_000);
});

test("no chain is read more often than configured", () => {
	for (const demand of [nobody, { ...nobody, hasOpen: true }, { ...nobody, isBusy: true }]) {
		expect(lookEveryMs(demand, { pollMs: 12_000, finalitySeconds: 5 })).toBe(12_000);
	}
});
