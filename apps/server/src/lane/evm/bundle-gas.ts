import { entryPointGas } from "../../money/entry-point-gas.ts";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { evmOp } from "./evm-op.ts";

/**
 * Gas added to what the simulation used: a payment requires 100,000 gas to be left, and each nested call keeps a 64th
 * back. Unused gas is not paid for.
 */
const headroomGas: Record<Exclude<JobKind, "open">, bigint> = {
	fill: 200_000n,
	void: 30_000n,
	release: 200_000n,
	refund: 200_000n,
};

/**
 * Returns a transaction's gas limit, from the gas used in its simulation. That is after gas refunds, which are up to a
 * fifth of the gas that the transaction needs.
 */
export function bundleGas(jobs: readonly Job[], { gasUsed }: { gasUsed: bigint }): bigint {
	const [first] = jobs;
	if (first && first.kind !== "open") return (gasUsed * 13n) / 10n + headroomGas[first.kind];
	// The EntryPoint requires the full gas limits of the ops, and the gas that was used is within them.
	return opsGas(jobs);
}

/** Returns the gas that the EntryPoint requires for ops: all their limits, however much they use. */
export function opsGas(jobs: readonly Job[]): bigint {
	return jobs.reduce((sum, job) => sum + (job.kind === "open" ? opGas(job) : 0n), entryPointGas.perBundle);
}

function opGas(job: Job<"open">): bigint {
	const { gas } = evmOp(job);
	const limits = gas.verificationGasLimit + gas.callGasLimit;
	const { perOp, limitFactor } = entryPointGas;
	return (limits * limitFactor.times) / limitFactor.over + perOp;
}
