import { accessManagerAbi, type StepReport } from "@geoswap/contracts";
import { attesterSetSchema } from "@geoswap/protocol";
import { type Address, type Client, encodeFunctionData, type Hex, slice } from "viem";
import { getBlock, readContract } from "viem/actions";
import * as z from "zod";

/**
 * The persons and machines that own a chain's contracts, the same on every chain. The deployment checks that the
 * addresses have their checksums, and that no key has two powers that must be separate.
 */
export const ownersSchema = z.strictObject({
	/** Takes over from the deployer; a multisig. */
	admin: z.string(),
	/** The relayers. */
	operators: z.array(z.string()).min(1),
	guardians: z.array(z.string()).min(1),
	treasuries: z.array(z.string()).min(1),
	/** A second admin, also a multisig. */
	secondAdmin: z.string().exactOptional(),
	/** Keys that move inventory within the caps. */
	treasurers: z.array(z.string()).exactOptional(),
	/** The account that sets caps and feeds. It should be a multisig. */
	configurers: z.array(z.string()).min(1),
	/** The account that unpauses a vault. */
	resumers: z.array(z.string()).min(1),
	/** Shorter than usual only on a devnet. */
	delays: z
		.strictObject({
			treasurySeconds: z.int().exactOptional(),
			configSeconds: z.int().exactOptional(),
			adminSeconds: z.int().exactOptional(),
		})
		.exactOptional(),
	attesterSet: attesterSetSchema,
	/** Blocks that confirm the deployment before it is recorded. */
	confirmations: z.int().min(1).exactOptional(),
});

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

type SafeTransaction = {
	to: Address;
	value: string;
	data: Hex;
	contractMethod: null;
	contractInputsValues: null;
};

/** A file that Safe's Transaction Builder imports. */
type SafeBatch = {
	version: "1.0";
	chainId: string;
	createdAt: number;
	meta: { name: string; description: string; createdFromSafeAddress: Address };
	transactions: SafeTransaction[];
};

/** Returns the calls as a batch for the multisig, which signs and sends them together. */
export function safeBatch({
	chainId,
	name,
	safe,
	calls,
	nowMs,
}: {
	chainId: number;
	name: string;
	safe: Address;
	calls: readonly { name: string; to: Address; data: Hex }[];
	nowMs: number;
}): SafeBatch {
	return {
		version: "1.0",
		chainId: String(chainId),
		createdAt: nowMs,
		meta: {
			name: `Geoswap on ${name}`,
			description: calls.map((call) => call.name).join("; "),
			createdFromSafeAddress: safe,
		},
		transactions: calls.map(({ to, data }) => ({
			to,
			value: "0",
			data,
			contractMethod: null,
			contractInputsValues: null,
		})),
	};
}
