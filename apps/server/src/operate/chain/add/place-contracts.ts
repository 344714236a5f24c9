import {
	accessManagerAbi,
	type DeployConfig,
	deployContracts,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import type { ChainDeployment } from "@geoswap/protocol";
import { type Account, type Address, type Client, http, slice } from "viem";
import { readContract } from "viem/actions";

type Placed =
	| { state: "done" | "done already"; deployment: ChainDeployment; reports: StepReport[] }
	/** Steps that only an owner can do, since the deployer has handed over. */
	| { state: "for owners"; accessManager: Address; steps: StepReport["step"][] }
	| { state: "would do"; steps: StepReport["step"][] };

/**
 * Deploys the contracts, or finds them. Every step reads the chain first, so a run continues after an interrupted
 * one. With `canSend` false nothing is sent, and the missing steps are returned.
 */
export async function placeContracts(
	client: Client,
	{
		rpcUrl,
		account,
		config,
		earlier,
		canSend,
		pollingIntervalMs,
	}: {
		rpcUrl: string;
		account: Account;
		config: DeployConfig;
		earlier: ChainDeployment | undefined;
		canSend: boolean;
		pollingIntervalMs: number;
	},
): Promise<Placed> {
	const common = { transport: http(rpcUrl), account, config, earlier, pollingIntervalMs };
	const planned: StepReport[] = [];
	const contracts = await planContracts({ ...common, onStep: (report) => void planned.push(report) });
	const missing = planned.filter(({ outcome }) => outcome === "would do").map(({ step }) => step);
	const hasManager = !missing.some(({ creates }) => creates === contracts.accessManager);
	const forOwners = missing.filter(({ needs }) => needs !== undefined);
	if (hasManager && !(await Promise.all(forOwners.map(isAllowed))).every(Boolean)) {
		return { state: "for owners", accessManager: contracts.accessManager, steps: forOwners };
	}
	if (missing.length > 0 && !canSend) return { state: "would do", steps: missing };
	const reports: StepReport[] = [];
	const deployment = await deployContracts({ ...common, onStep: (report) => void reports.push(report) });
	return { state: missing.length > 0 ? "done" : "done already", deployment, reports };

	async function isAllowed({ to, data }: StepReport["step"]): Promise<boolean> {
		const [isImmediate] = await readContract(client, {
			address: contracts.accessManager,
			abi: accessManagerAbi,
			functionName: "canCall",
			args: [account.address, to, slice(data, 0, 4)],
		});
		return isImmediate;
	}
}
