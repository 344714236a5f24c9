import { expect, test } from "vitest";
import { entryPointGas } from "../../money/entry-point-gas.ts";
import type { Job } from "../../swap/facts/job.ts";
import { opsGas } from "./bundle-gas.ts";

test("a bundle's gas limit covers what the EntryPoint needs for the bundle and for each op", () => {
	const gas = { verificationGasLimit: 80_000n, callGasLimit: 235_000n };
	const open = { kind: "open", payload: { op: { gas } } } as Job;
	const { perBundle, perOp } = entryPointGas;
	// 315,000 for the op itself, and the 64th that a call keeps back.
	expect(opsGas([open])).toBe(perBundle + perOp + 320_000n);
	expect(opsGas([open, open])).toBe(perBundle + 2n * (perOp + 320_000n));
});
