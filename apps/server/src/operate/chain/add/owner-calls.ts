import { accessManagerAbi, type StepReport } from "@geoswap/contracts";
import { type Address, type Client, encodeFunctionData, type Hex, slice } from "viem";
import { getBlock, readContract } from "viem/actions";

/** A call for an owner's multisig. */
type OwnerCall = { name: string; to: Address; data: Hex };

type OwnerCalls = {
	calls: OwnerCall[];
	/** Steps that are scheduled and whose delay has not passed. */
	waiting: { name: string; untilSeconds: number }[];
};

type Step = Pick<StepReport["step"], "name" | "to" | "data">;

/**
 * Returns the calls by which an owner does steps through the AccessManager. A member without a delay makes the step
 * itself; one with a delay schedules it, and executes it in a later run, after the delay.
 */
export async function ownerCalls(
	client: Client,
	{ accessManager, owner, steps }: { accessManager: Address; owner: Address; steps: readonly Step[] },
): Promise<OwnerCalls> {
	const manager = { address: accessManager, abi: accessManagerAbi } as const;
	const { timestamp } = await getBlock(client);
	const found: OwnerCalls = { calls: [], waiting: [] };
	for (const { name, to, data } of steps) {
		const [isImmediate] = await readContract(client, {
			...manager,
			functionName: "canCall",
			args: [owner, to, slice(data, 0, 4)],
		});
		if (isImmediate) {
			found.calls.push({ name, to, data });
			continue;
		}
		const id = await readContract(client, {
			...manager,
			functionName: "hashOperation",
			args: [owner, to, data],
		});
		const readyAt = await readContract(client, { ...manager, functionName: "getSchedule", args: [id] });
		if (readyAt === 0) {
			const schedule = encodeFunctionData({ ...manager, functionName: "schedule", args: [to, data, 0] });
			found.calls.push({ name: `schedule: ${name}`, to: accessManager, data: schedule });
		} else if (BigInt(readyAt) <= timestamp) {
			const execute = encodeFunctionData({ ...manager, functionName: "execute", args: [to, data] });
			found.calls.push({ name: `execute: ${name}`, to: accessManager, data: execute });
		} else {
			found.waiting.push({ name, untilSeconds: readyAt });
		}
	}
	return found;
}
