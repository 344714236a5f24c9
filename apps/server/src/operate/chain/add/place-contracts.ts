import {
	accessManagerAbi,
	type DeployConfig,
	deployContracts,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import type { ChainDeployment } from "@geoswap/protocol";
import { type Account, type Client, http } from "viem";
import { readContract } from "viem/actions";

/** The AccessManager's own admin role. */
const adminRole = 0n;

type Placed =
	| { state: "done" | "done already"; deployment: ChainDeployment; reports: StepReport[] }
	/** Steps that only an owner can do, since the deployer has handed over. */
	| { state: "for owners"; steps: StepReport["step"][] }
	| { state: "would do"; steps: StepReport["step"][] };

/**
 * Deploys the contracts, or finds them. Every step reads the chain first, so a run after an interrupted one goes on.
 * With `canSend` false nothing is sent: what is missing is returned.
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
	const forOwners = missing.filter(({ needsAdmin }) => needsAdmin);
	if (hasManager && forOwners.length > 0 && !(await isAdmin())) {
		return { state: "for owners", steps: forOwners };
	}
	if (missing.length > 0 && !canSend) return { state: "would do", steps: missing };
	const reports: StepReport[] = [];
	const deployment = await deployContracts({ ...common, onStep: (report) => void reports.push(report) });
	return { state: missing.length > 0 ? "done" : "done already", deployment, reports };

	async function isAdmin(): Promise<boolean> {
		const [isMember] = await readContract(client, {
			address: contracts.accessManager,
			abi: accessManagerAbi,
			functionName: "hasRole",
			args: [adminRole, account.address],
		});
		return isMember;
	}
}
