import { geoAccountAbi, geoVaultAbi, toWord } from "@geoswap/protocol";
import { type Address, type Client, encodeDeployData, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { getCode, readContract } from "viem/actions";
import { accessManagerAbi } from "./access-manager-abi.ts";
import type { DeployConfig } from "./deploy-config.ts";
import { deterministicDeployment } from "./deterministic-deployment.ts";
import { readAccessManagerArtifact, readArtifact } from "./read-artifact.ts";
import { adminRole, guardedRoles, selectorsOf, type VaultRole, vaultRoles } from "./vault-roles.ts";

/** The kinds of caps, as the vault numbers them. */
const capKinds = { fill: 0, bridge: 3 } as const;

const admin = { id: adminRole, label: "ADMIN" };

/** One transaction of a deployment. Whether it is needed is read from the chain, never stored. */
export type DeployStep = {
	/** The fact that holds once the step is done. */
	name: string;
	/** The contract that is called. */
	to: Address;
	data: Hex;
	/** The contract that the step creates. */
	creates?: Address;
	/** The role that can do the step. Undefined if anyone can. */
	needs?: "admin" | "config";
	isDone: () => Promise<boolean>;
};

export type DeployedContracts = {
	delegate: Address;
	/** The account for wallets that sign typed data only. */
	typedDelegate: Address;
	escrow: Address;
	accessManager: Address;
	vault: Address;
};

export type DeployPlan = {
	contracts: DeployedContracts;
	/** The CctpRoute to each other chain, by its chain id. */
	routes: Record<string, Address>;
	steps: DeployStep[];
};

/** Returns all steps in the order in which they are done. A step may rely only on the steps before it. */
export function deploySteps({
	client,
	deployer,
	config,
	salt,
}: {
	client: Client;
	deployer: Address;
	config: DeployConfig;
	salt?: Hex | undefined;
}): DeployPlan {
	const place = (initCode: Hex) => deterministicDeployment(initCode, salt);
	const escrow = place(readArtifact("GeoEscrow").bytecode);
	const account = (typedOnly: boolean) =>
		place(
			encodeDeployData({
				abi: geoAccountAbi,
				bytecode: readArtifact("GeoAccount").bytecode,
				args: [escrow.address, typedOnly],
			}),
		);
	const [delegate, typedDelegate] = [account(false), account(true)];
	const accessManager = place(
		encodeDeployData({
			abi: accessManagerAbi,
			bytecode: readAccessManagerArtifact().bytecode,
			args: [deployer],
		}),
	);
	const vault = place(
		encodeDeployData({
			abi: geoVaultAbi,
			bytecode: readArtifact("GeoVault").bytecode,
			args: [
				accessManager.address,
				escrow.address,
				config.uniswap.router,
				config.settlementToken,
				config.wrappedNative,
				config.sequencerUptimeFeed ?? zeroAddress,
			],
		}),
	);

	const { cctp } = config;
	const routes = Object.entries(cctp?.routes ?? {}).map(([chainId, { domain, vault: there, ...route }]) => {
		const { abi, bytecode } = readArtifact("CctpRoute");
		const args = [
			vault.address,
			cctp?.tokenMessenger,
			config.settlementToken,
			domain,
			toWord(there),
			route.maxFeeBps,
		];
		return { chainId, ...route, deployment: place(encodeDeployData({ abi, bytecode, args })) };
	});

	const { roles, delays } = config;
	const isHandedOver = roles.admin !== deployer;
	const { operator, guardian, treasury, treasurer, config: configRole, resume } = vaultRoles;
	return {
		contracts: {
			delegate: delegate.address,
			typedDelegate: typedDelegate.address,
			escrow: escrow.address,
			accessManager: accessManager.address,
			vault: vault.address,
		},
		routes: Object.fromEntries(routes.map(({ chainId, deployment }) => [chainId, deployment.address])),
		steps: [
			creation("GeoEscrow", escrow),
			creation("GeoAccount", delegate),
			creation("GeoAccount for typed data only", typedDelegate),
			creation("AccessManager", accessManager),
			creation("GeoVault", vault),
			// A new vault's functions belong to the admin, who sets the first caps before the roles take the functions over.
			...config.assets.map(({ symbol, address }) => {
				const perHour = config.outflowCaps[symbol] ?? 0n;
				return cap(`on fills of ${symbol}`, {
					kind: capKinds.fill,
					token: address,
					to: zeroAddress,
					perHour,
				});
			}),
			...routes.flatMap(({ chainId, capPerHour, deployment }) => [
				creation(`CctpRoute to chain ${chainId}`, deployment),
				cap(`on the route to chain ${chainId}`, {
					kind: capKinds.bridge,
					token: config.settlementToken,
					to: deployment.address,
					perHour: capPerHour,
				}),
			]),
			...Object.values(vaultRoles).map(roleFunctions),
			...guardedRoles.map(guarded),
			...roles.operators.map((member) => grant(operator, member)),
			...roles.guardians.map((member) => grant(guardian, member)),
			...roles.treasuries.map((member) => grant(treasury, member, delays.treasurySeconds)),
			...roles.treasurers.map((member) => grant(treasurer, member)),
			...roles.configurers.map((member) => grant(configRole, member, delays.configSeconds)),
			...roles.resumers.map((member) => grant(resume, member)),
			...(roles.secondAdmin ? [grant(admin, roles.secondAdmin, delays.adminSeconds)] : []),
			...(isHandedOver ? [grant(admin, roles.admin, delays.adminSeconds), renouncedAdmin()] : []),
		],
	};

	function creation(contract: string, deployment: { address: Address; to: Address; data: Hex }): DeployStep {
		return {
			name: `${contract} is deployed`,
			to: deployment.to,
			data: deployment.data,
			creates: deployment.address,
			isDone: () => hasCode(deployment.address),
		};
	}

	function managerCall(name: string, data: Hex, isDone: () => Promise<boolean>): DeployStep {
		return {
			name,
			to: accessManager.address,
			data,
			needs: "admin",
			isDone: async () => (await hasCode(accessManager.address)) && (await isDone()),
		};
	}

	/** Returns the step that sets a role's functions and label, in one call because labels cannot be read back. */
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

	/** Returns the step that lets the guardian cancel a role's scheduled operations. */
	function guarded({ id, label }: VaultRole): DeployStep {
		return managerCall(
			`GUARDIAN cancels operations of ${label}`,
			encodeFunctionData({
				abi: accessManagerAbi,
				functionName: "setRoleGuardian",
				args: [id, guardian.id],
			}),
			async () =>
				(await readContract(client, {
					address: accessManager.address,
					abi: accessManagerAbi,
					functionName: "getRoleGuardian",
					args: [id],
				})) === guardian.id,
		);
	}

	function grant({ id, label }: Pick<VaultRole, "id" | "label">, member: Address, delay = 0): DeployStep {
		const after = delay === 0 ? "" : `, with a delay of ${delay} s`;
		return managerCall(
			`${label} is granted to ${member}${after}`,
			encodeFunctionData({ abi: accessManagerAbi, functionName: "grantRole", args: [id, member, delay] }),
			async () => {
				const [isMember, memberDelay] = await membership(id, member);
				return isMember && memberDelay === delay;
			},
		);
	}

	function cap(
		what: string,
		{ kind, token, to, perHour }: { kind: number; token: Address; to: Address; perHour: bigint },
	): DeployStep {
		return {
			name: `the cap ${what} is ${perHour}`,
			to: vault.address,
			data: encodeFunctionData({
				abi: geoVaultAbi,
				functionName: "setCap",
				args: [kind, token, to, perHour],
			}),
			needs: "config",
			isDone: async () => (await hasCode(vault.address)) && (await readCap(kind, token, to)) === perHour,
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
			async () => !(await membership(adminRole, deployer))[0],
		);
	}

	async function hasCode(address: Address): Promise<boolean> {
		return (await getCode(client, { address })) !== undefined;
	}

	async function membership(
		roleId: bigint,
		member: Address,
	): Promise<readonly [isMember: boolean, delay: number]> {
		return readContract(client, {
			address: accessManager.address,
			abi: accessManagerAbi,
			functionName: "hasRole",
			args: [roleId, member],
		});
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

	async function readCap(kind: number, token: Address, to: Address): Promise<bigint> {
		const [perHour] = await readContract(client, {
			address: vault.address,
			abi: geoVaultAbi,
			functionName: "capOf",
			args: [kind, token, to],
		});
		return perHour;
	}
}
