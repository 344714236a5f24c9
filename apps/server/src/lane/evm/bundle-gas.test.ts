import { expect, test } from "vitest";
import { openingGas } from "../../money/unsettled-gas.ts";
import type { Job } from "../../swap/facts/job.ts";
import { bundleGas, opensGas } from "./bundle-gas.ts";

const open = { kind: "open", payload: { op: { gas: 315_000n } } } as Job;
const { perBundle, perOrder } = openingGas;

test("a bundle's gas limit covers what the escrow needs for the bundle and for each order", () => {
	// 315,000 for the order itself, and the 64th that a call keeps back.
	expect(opensGas([open])).toBe(perBundle + perOrder + 320_000n);
	expect(opensGas([open, open])).toBe(perBundle + 2n * (perOrder + 320_000n));
});

test("the gas limit of opens does not depend on the gas that they used in the simulation", () => {
	for (const gasUsed of [0n, 100_000n, 10_000_000n]) {
		expect(bundleGas([open, open], { gasUsed })).toBe(opensGas([open, open]));
	}
});
