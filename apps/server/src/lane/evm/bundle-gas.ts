import { openingGas } from "../../money/unsettled-gas.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { evmOp } from "./evm-op.ts";

/**
 * Gas added to what the simulation used, because a payment requires 100,000 gas to be left, and each nested call keeps
 * a 64th back. Unused gas is not paid for.
 */
const headroomGas: Record<Exclude<JobKind, "open">, bigint> = {
	fill: 200_000n,
	void: 30_000n,
	release: 200_000n,
	refund: 200_000n,
};

/**
 * Returns a transaction's gas limit, from the gas used in its simulation. That number is net of gas refunds, which are
 * up to a fifth of the gas that the transaction needs.
 */
export function bundleGas(jobs: readonly Job[], { gasUsed }: { gasUsed: bigint }): bigint {
	const [first] = jobs;
	if (first && first.kind !== "open") return (gasUsed * 13n) / 10n + headroomGas[first.kind];
	// A wallet's code may use less gas in a simulation than in a block, so the gas used in the simulation is ignored.
	return opensGas(jobs);
}

/** Returns the gas that the escrow requires to open orders, which covers all their limits, regardless of their use. */
export function opensGas(jobs: readonly Job[]): bigint {
	return jobs.reduce((sum, job) => sum + (job.kind === "open" ? openGas(job) : 0n), openingGas.perBundle);
}

function openGas(job: Job<"open">): bigint {
	const { perOrder, limitFactor } = openingGas;
	return (evmOp(job).gas * limitFactor.times) / limitFactor.over + perOrder;
}
