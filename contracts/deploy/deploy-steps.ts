import { geoVaultAbi } from "@geoswap/protocol";
import { type Address, type Client, encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { getCode, readContract } from "viem/actions";
import { accessManagerAbi } from "./access-manager-abi.ts";
import type { DeployConfig } from "./deploy-config.ts";
import { deterministicDeployment } from "./deterministic-deployment.ts";
import { readAccessManagerArtifact, readArtifact } from "./read-artifact.ts";
import {
	adminFunctions,
	adminRole,
	guardianRole,
	operatorRole,
	selectorsOf,
	treasuryRole,
	type VaultRole,
} from "./vault-roles.ts";

/** One transaction of a deployment. Whether it is needed is read from the chain, never remembered. */
export type DeployStep = {
	/** The fact that holds once the step is done. */
	name: string;
	/** The contract that is called. */
	to: Address;
	data: Hex;
	/** The contract that the step creates. */
	creates?: Address;
	/** True if only an admin of the AccessManager can do the step. */
	needsAdmin: boolean;
	isDone: () => Promise<boolean>;
};

export type DeployedContracts = {
	delegate: Address;
	escrow: Address;
	accessManager: Address;
	vault: Address;
};

export type DeployPlan = { contracts: DeployedContracts; steps: DeployStep[] };

/** Returns all steps in the order in which they are done. A step may rely on those before it, and on nothing else. */
export function deploySteps({
	client,
	deployer,
	config,
}: {
	client: Client;
	deployer: Address;
	config: DeployConfig;
}): DeployPlan {
	const delegate = deterministicDeployment(readArtifact("GeoAccount").bytecode);
	const escrow = deterministicDeployment(readArtifact("GeoEscrow").bytecode);
	const accessManager = deterministicDeployment(
		encodeDeployData({
			abi: accessManagerAbi,
			bytecode: readAccessManagerArtifact().bytecode,
			args: [deployer],
		}),
	);
	const vault = deterministicDeployment(
		encodeDeployData({
			abi: geoVaultAbi,
			bytecode: readArtifact("GeoVault").bytecode,
			args: [
				accessManager.address,
				escrow.address,
				config.uniswap.router,
				config.settlementToken,
				config.wrappedNative,
			],
		}),
	);

	const { roles } = config;
	const isHandedOver = roles.admin !== deployer;
	return {
		contracts: {
			delegate: delegate.address,
			escrow: escrow.address,
			accessManager: accessManager.address,
			vault: vault.address,
		},
		steps: [
			creation("GeoAccount", delegate),
			creation("GeoEscrow", escrow),
			creation("AccessManager", accessManager),
			creation("GeoVault", vault),
			...[operatorRole, guardianRole, treasuryRole].map(roleFunctions),
			functionsOfAdmin(),
			...roles.operators.map((member) => grant(operatorRole.id, operatorRole.label, member)),
			...roles.guardians.map((member) => grant(guardianRole.id, guardianRole.label, member)),
			...roles.treasuries.map((member) => grant(treasuryRole.id, treasuryRole.label, member)),
			...config.assets.map(({ symbol, address }) => outflowCap(symbol, address)),
			...(isHandedOver ? [grant(adminRole, "ADMIN", roles.admin), renouncedAdmin()] : []),
		],
	};

	function creation(contract: string, deployment: { address: Address; to: Address; data: Hex }): DeployStep {
		return {
			name: `${contract} is deployed`,
			to: deployment.to,
			data: deployment.data,
			creates: deployment.address,
			needsAdmin: false,
			isDone: () => hasCode(deployment.address),
		};
	}

	function managerCall(name: string, data: Hex, isDone: () => Promise<boolean>): DeployStep {
		return {
			name,
			to: accessManager.address,
			data,
			needsAdmin: true,
			isDone: async () => (await hasCode(accessManager.address)) && (await isDone()),
		};
	}

	/** Returns the step that sets a role's functions and label: in one call, because labels cannot be read back. */
	function roleFunctions({ id, label, functions }: VaultRole): DeployStep {
		const selectors = selectorsOf(functions);
		const calls = [
			encodeFunctionData({ abi: accessManagerAbi, functionName: "labelRole", args: [id, label] }),
			encodeFunctionData({
				abi: accessManagerAbi,
				functionName: "setTargetFunctionRole",
				args: [vault.address, selectors, id],
			}),
		];
		return managerCall(
			`${label} may call ${functions.join(", ")}`,
			encodeFunctionData({ abi: accessManagerAbi, functionName: "multicall", args: [calls] }),
			() => haveRole(selectors, id),
		);
	}

	/**
	 * Returns the step that gives the admin its functions. A new AccessManager does so by itself; another run may find it
	 * changed.
	 */
	function functionsOfAdmin(): DeployStep {
		const selectors = selectorsOf(adminFunctions);
		return {
			name: `ADMIN may call ${adminFunctions.join(", ")}`,
			to: accessManager.address,
			data: encodeFunctionData({
				abi: accessManagerAbi,
				functionName: "setTargetFunctionRole",
				args: [vault.address, selectors, adminRole],
			}),
			needsAdmin: true,
			isDone: async () => !(await hasCode(accessManager.address)) || (await haveRole(selectors, adminRole)),
		};
	}

	function grant(roleId: bigint, label: string, member: Address): DeployStep {
		return managerCall(
			`${label} is granted to ${member}`,
			encodeFunctionData({ abi: accessManagerAbi, functionName: "grantRole", args: [roleId, member, 0] }),
			() => isMember(roleId, member),
		);
	}

	function outflowCap(symbol: string, token: Address): DeployStep {
		const perHour = config.outflowCaps[symbol] ?? 0n;
		return {
			name: `the outflow cap of ${symbol} is ${perHour}`,
			to: vault.address,
			data: encodeFunctionData({ abi: geoVaultAbi, functionName: "setOutflowCap", args: [token, perHour] }),
			needsAdmin: true,
			isDone: async () => (await hasCode(vault.address)) && (await readOutflowCap(token)) === perHour,
		};
	}

	function renouncedAdmin(): DeployStep {
		return managerCall(
			`ADMIN is renounced by the deployer ${deployer}`,
			encodeFunctionData({
				abi: accessManagerAbi,
				functionName: "renounceRole",
				args: [adminRole, deployer],
			}),
			async () => !(await isMember(adminRole, deployer)),
		);
	}

	async function hasCode(address: Address): Promise<boolean> {
		return (await getCode(client, { address })) !== undefined;
	}

	async function isMember(roleId: bigint, member: Address): Promise<boolean> {
		const [isMember] = await readContract(client, {
			address: accessManager.address,
			abi: accessManagerAbi,
			functionName: "hasRole",
			args: [roleId, member],
		});
		return isMember;
	}

	async function haveRole(selectors: Hex[], roleId: bigint): Promise<boolean> {
		const assigned = await Promise.all(
			selectors.map((selector) =>
				readContract(client, {
					address: accessManager.address,
					abi: accessManagerAbi,
					functionName: "getTargetFunctionRole",
					args: [vault.address, selector],
				}),
			),
		);
		return assigned.every((id) => id === roleId);
	}

	async function readOutflowCap(token: Address): Promise<bigint> {
		return readContract(client, {
			address: vault.address,
			abi: geoVaultAbi,
			functionName: "outflowCap",
			args: [token],
		});
	}
}
