import { geoVaultAbi, type Order } from "@geoswap/protocol";
import fc from "fast-check";
import { type Hex, numberToHex, toFunctionSelector } from "viem";
import { expect, test } from "vitest";
import type { BundleSimulation } from "../../chain/evm/send/simulate-bundle.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { judgeJobs } from "./judge-jobs.ts";

const kinds = ["open", "fill", "void", "release", "refund"] as const;
const selectors: Hex[] = [
	"0x00000000",
	"0x08c379a0",
	"0xdeadbeef",
	...geoVaultAbi.flatMap((item) => (item.type === "error" ? [toFunctionSelector(item as never)] : [])),
];

/** The chain's answers about each job: done, skipped with a reason, or nothing at all. */
const scenes = fc
	.record({
		kind: fc.constantFrom(...kinds),
		items: fc.array(
			fc.record({
				failures: fc.nat(6),
				alone: fc.boolean(),
				routed: fc.boolean(),
				outcome: fc.constantFrom("done", "skipped", "silent"),
				selector: fc.constantFrom(...selectors),
			}),
			{ minLength: 1, maxLength: 8 },
		),
		isReverted: fc.boolean(),
	})
	.map(({ kind, items, isReverted }) => {
		const jobs = items.map((item, i) => jobOf(kind, i, item));
		const simulation: BundleSimulation = isReverted
			? { succeeds: false, reason: "reverted" }
			: { succeeds: true, gasUsed: 1n, ...outcomesOf(items) };
		return { kind, items, jobs, simulation };
	});

test("a job is sent if and only if its event would occur, and a void, release or refund is never refused", () => {
	fc.assert(
		fc.property(scenes, ({ kind, items, jobs, simulation }) => {
			const verdicts = judgeJobs(jobs, simulation);
			expect(verdicts).toHaveLength(jobs.length);
			for (const [i, verdict] of verdicts.entries()) {
				const isDone = simulation.succeeds && items[i]?.outcome === "done";
				expect(verdict.do === "send").toBe(isDone);
				if (kind !== "open" && kind !== "fill") expect(verdict.do).not.toBe("refuse");
			}
		}),
	);
});

test("each round makes progress, so that a lane never retries the same jobs forever", () => {
	fc.assert(
		fc.property(scenes, ({ jobs, simulation }) => {
			const isProgress = judgeJobs(jobs, simulation).some(
				(verdict, i) =>
					verdict.do === "send" ||
					verdict.do === "refuse" ||
					(verdict.do === "postpone" && (verdict.blocks > 0 || (verdict.alone && !jobs[i]?.alone))),
			);
			// Jobs that must be sent alone are not bundled.
			fc.pre(jobs.length === 1 || jobs.every((job) => !job.alone));
			expect(isProgress).toBe(true);
		}),
	);
});

test("only an order that would not be opened counts a failure, and the others are sent", () => {
	const jobs = [0, 1, 2].map((i) => jobOf("open", i, { failures: 0, alone: false, routed: false }));
	const outcomes = outcomesOf(
		jobs.map((_, i) => ({ outcome: i === 1 ? "silent" : "done", selector: "0x00000000" })),
	);
	expect(judgeJobs(jobs, { succeeds: true, gasUsed: 1n, ...outcomes })).toEqual([
		{ do: "send" },
		{ do: "postpone", blocks: 1, alone: true, failures: 1 },
		{ do: "send" },
	]);
});

test("opens whose bundle would revert as a whole are tried alone, without a failure", () => {
	const jobs = [0, 1].map((i) => jobOf("open", i, { failures: 0, alone: false, routed: false }));
	const alone = { do: "postpone", blocks: 0, alone: true, failures: 0 };
	expect(judgeJobs(jobs, { succeeds: false, reason: "reverted" })).toEqual([alone, alone]);
});

test("a fill below its minimum is refused only if it is alone and at its third try", () => {
	const skip = (count: number, failures: number) => {
		const jobs = Array.from({ length: count }, (_, i) =>
			jobOf("fill", i, { failures, alone: false, routed: true }),
		);
		const outcomes = outcomesOf(jobs.map(() => ({ outcome: "skipped", selector: "0x08c379a0" })));
		return judgeJobs(jobs, { succeeds: true, gasUsed: 1n, ...outcomes })[0];
	};
	const later = { do: "postpone", blocks: 1, alone: true, failures: 1 };
	expect([skip(2, 0), skip(2, 2), skip(1, 0), skip(1, 1)]).toEqual([later, later, later, later]);
	expect(skip(1, 2)).toEqual({ do: "refuse", reason: "price" });
});

function jobOf(
	kind: JobKind,
	i: number,
	{ failures, alone, routed }: { failures: number; alone: boolean; routed: boolean },
): Job {
	const delivery = routed ? { kind: "router", budget: 1n, fees: [500] } : { kind: "inventory", amount: 1n };
	return {
		swapId: String(i),
		kind,
		chainId: 1,
		orderId: numberToHex(i, { size: 32 }),
		order: {} as Order,
		payload: { delivery },
		state: "queued",
		alone,
		failures,
		reason: undefined,
		attestationId: kind === "release" ? "attestation" : undefined,
		relayer: undefined,
		nonce: undefined,
	} as Job;
}

function outcomesOf(items: readonly { outcome: string; selector: Hex }[]): {
	done: Set<Hex>;
	skips: Map<Hex, Hex>;
} {
	const numbered = items.map((item, i) => ({ ...item, orderId: numberToHex(i, { size: 32 }) }));
	return {
		done: new Set(numbered.flatMap(({ outcome, orderId }) => (outcome === "done" ? orderId : []))),
		skips: new Map(
			numbered.flatMap(({ outcome, orderId, selector }) =>
				outcome === "skipped" ? [[orderId, selector]] : [],
			),
		),
	};
}
