import { expect, test } from "vitest";
import { lookEveryMs } from "./follow-pause.ts";

const nobody = { isBusy: false, isWaitedFor: false, hasOpen: false };
const fast = { pollMs: 250, finalitySeconds: 900 };

test("a chain is looked at as often as somebody needs, and rarely if nobody does", () => {
	expect(lookEveryMs(nobody, fast)).toBe(10_000);
	expect(lookEveryMs({ ...nobody, hasOpen: true }, fast)).toBe(2_000);
	expect(lookEveryMs({ ...nobody, isBusy: true }, fast)).toBe(250);
});

test("a swap that waits for finality alone costs ten looks within that time, and none is more than ten seconds late", () => {
	const waits = { ...nobody, isWaitedFor: true };
	expect(lookEveryMs(waits, { pollMs: 250, finalitySeconds: 5 })).toBe(500);
	expect(lookEveryMs(waits, fast)).toBe(10_000);
	expect(lookEveryMs({ ...waits, hasOpen: true }, fast)).toBe(2_000);
});

test("nothing is looked at more often than configured", () => {
	for (const demand of [nobody, { ...nobody, hasOpen: true }, { ...nobody, isBusy: true }]) {
		expect(lookEveryMs(demand, { pollMs: 12_000, finalitySeconds: 5 })).toBe(12_000);
	}
});
