import type { Hex } from "viem";
import type { BundleSimulation } from "../../chain/evm/send/simulate-bundle.ts";
import { skipCause } from "../../job/skip-cause.ts";
import { type Job, maxFailures } from "../../swap/facts/job.ts";
import { type Verdict, verdictOnFailure } from "../verdict.ts";

/** Blocks to wait if the vault or the chain may recover by itself, or the follower has yet to read something. */
const laterBlocks = 5;

/** Returns a verdict on each job, in the order of the jobs. */
export function judgeJobs(jobs: readonly Job[], simulation: BundleSimulation): Verdict[] {
	if (simulation.succeeds) {
		return jobs.map((job) => judgeItem(job, simulation, { isAlone: jobs.length === 1 }));
	}
	const [first] = jobs;
	if (first?.kind === "fill" || first?.kind === "void") {
		// Batches skip items that fail, so a vault that refuses the whole batch is paused, or has not authorized the
		// relayer.
		return jobs.map(() => ({ do: "postpone", blocks: laterBlocks, alone: false, failures: 0 }));
	}
	if (jobs.length === 1 || first?.attestationId !== undefined) return jobs.map(verdictOnFailure);
	return jobs.map(() => ({ do: "postpone", blocks: 0, alone: true, failures: 0 }));
}

type Outcomes = Pick<Extract<BundleSimulation, { succeeds: true }>, "done" | "skips">;

function judgeItem(job: Job, { done, skips }: Outcomes, { isAlone }: { isAlone: boolean }): Verdict {
	if (done.has(job.orderId)) return { do: "send" };
	if (job.kind === "fill") return judgeSkippedFill(job, skips.get(job.orderId), { isAlone });
	// The order is decided already. Its event is on the chain, but the follower or a round has yet to read it.
	if (job.kind === "void") return { do: "postpone", blocks: laterBlocks, alone: false, failures: 0 };
	return verdictOnFailure(job);
}

function judgeSkippedFill(
	job: Job<"fill">,
	selector: Hex | undefined,
	{ isAlone }: { isAlone: boolean },
): Verdict {
	const cause = skipCause(selector ?? "0x00000000", {
		throughRouter: job.payload.delivery.kind === "router",
	});
	switch (cause) {
		case "price":
			// The fills before it in the bundle moved the pool's price, or a third party did for a block.
			return isAlone && job.failures + 1 >= maxFailures
				? { do: "refuse", reason: cause }
				: { do: "postpone", blocks: 1, alone: true, failures: 1 };
		case "liquidity":
		case "recipient":
		case "too_late":
			return { do: "refuse", reason: cause };
		case "decided":
			return { do: "postpone", blocks: laterBlocks, alone: false, failures: 0 };
		case "not_open":
			return { do: "postpone", blocks: 1, alone: false, failures: 0 };
		case "gas":
			return job.alone ? verdictOnFailure(job) : { do: "postpone", blocks: 0, alone: true, failures: 0 };
		case "other":
			return verdictOnFailure(job);
	}
}
