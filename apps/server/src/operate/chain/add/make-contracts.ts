import {
	accessManagerAbi,
	type DeployConfig,
	deployContracts,
	parseDeployConfig,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import { parseJsonFile } from "@geoswap/keys/config/parse-json-file";
import { type ChainDeployment, formatDeployment, geoVaultAbi, withChainDeployment } from "@geoswap/protocol";
import { type Account, type Address, type Client, http, slice, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { readContract } from "viem/actions";
import { ConfigError } from "../../../config/config-error.ts";
import { readConfigFile, readDeployment, writeWhole } from "../config-file.ts";
import type { Adding, AddOptions, Outcome } from "./adding.ts";
import { ownerCalls, ownersSchema, safeBatch } from "./owners.ts";
import { type AssetPlan, planAssets } from "./plan-assets.ts";

type DeployStep = StepReport["step"];

/** Finds pools, deploys or finds the contracts, and records them in the deployment file. */
export async function makeContracts(adding: Adding): Promise<Outcome> {
	const { client, preset, options } = adding;
	const { configPath, rpcUrls, isDryRun } = options;
	const { chainId } = preset;
	const { file, deploymentPath } = readConfigFile(configPath);
	const deployment = readDeployment(deploymentPath);
	const earlier = deployment.chains.find((one) => one.chainId === chainId);
	const plan = await planAssets(client, preset, {
		deviationBps: file.price?.feedDeviationBps ?? 300,
		earlier: earlier?.assets,
	});
	if (earlier)
		Object.assign(
			plan.outflowCaps,
			await readKeptCaps(client, { deployment: earlier, wanted: plan.outflowCaps }),
		);
	const config = deployConfigOf(adding, plan);
	const lines = [
		`offers ${plan.assets.map(({ symbol, paths }) => (paths.length > 0 ? `${symbol} (pools ${paths.map((path) => path.join("+")).join(", ")})` : symbol)).join(", ")}`,
		...plan.leftOut.map(({ symbol, because }) => `leaves out ${symbol}: ${because}`),
	];
	const placed = await placeContracts(client, {
		rpcUrl: rpcUrls[0] ?? "",
		account: accountOf(options),
		config,
		earlier,
		canSend: options.deployerKey !== undefined && !isDryRun,
		pollingIntervalMs: options.pollingIntervalMs,
	});
	if (placed.state === "for owners") return forOwners(adding, { ...placed, roles: config.roles, lines });
	if (placed.state === "would do") {
		const steps = placed.steps.map(({ name, creates }) => `${name}${creates ? ` at ${creates}` : ""}`);
		if (isDryRun) return { state: "would do", lines: [...lines, ...steps] };
		const next = "set DEPLOYER_PRIVATE_KEY, whose account pays for these steps, and run again";
		return { state: "waiting", lines: [...lines, ...steps, next] };
	}
	const all = withChainDeployment(deployment, placed.deployment);
	const deployed = all.chains.find((one) => one.chainId === chainId);
	const isRecorded = JSON.stringify(earlier) === JSON.stringify(deployed);
	if (!isRecorded && !isDryRun) writeWhole(deploymentPath, formatDeployment(all));
	const { vault, escrow, delegate, typedDelegate, accessManager } = placed.deployment.contracts;
	lines.push(
		`vault ${vault}, escrow ${escrow}, delegates ${delegate} and ${typedDelegate}, AccessManager ${accessManager}`,
		"the owners have nothing to sign",
	);
	return { state: placed.state === "done" || !isRecorded ? "done" : "done already", lines };
}

/** Returns the account that deploys, or whose contracts are searched. */
function accountOf({ deployerKey, deployer }: AddOptions): Account {
	if (deployerKey) return privateKeyToAccount(deployerKey);
	if (deployer) return { address: deployer, type: "json-rpc" };
	throw new ConfigError(
		"DEPLOYER_PRIVATE_KEY",
		"is not set in the environment. Set it to the deployer's key, or name the deployer with --deployer to look for its contracts",
	);
}

/** Writes the steps as a batch for each Safe that must sign. */
async function forOwners(
	{ client, preset: { chainId, name }, options: { isDryRun, nowMs }, chainFile }: Adding,
	{
		accessManager,
		steps,
		roles,
		lines,
	}: {
		accessManager: Address;
		steps: readonly DeployStep[];
		roles: DeployConfig["roles"];
		lines: string[];
	},
): Promise<Outcome> {
	const told = [...lines];
	const owners = [
		{ needs: "admin", safe: roles.admin, file: ".safe.json" },
		{ needs: "config", safe: roles.configurers[0], file: ".config-safe.json" },
	] as const;
	for (const { needs, safe, file } of owners) {
		const own = steps.filter((step) => step.needs === needs);
		if (own.length === 0 || !safe) continue;
		const { calls, waiting } = await ownerCalls(client, { accessManager, owner: safe, steps: own });
		const names = calls.map((call) => call.name);
		for (const one of waiting)
			told.push(`scheduled, to be executed after ${timeOf(one.untilSeconds)}: ${one.name}`);
		if (calls.length === 0) continue;
		if (isDryRun) {
			told.push(`the owners of ${safe} would sign:`, ...names);
			continue;
		}
		const path = chainFile(file);
		const batch = safeBatch({ chainId, name, safe, calls, nowMs: nowMs() });
		writeWhole(path, `${JSON.stringify(batch, null, "\t")}\n`);
		told.push(
			`the owners of ${safe} import ${path} into Safe's Transaction Builder, sign and send; then run again:`,
			...names,
		);
	}
	return { state: isDryRun ? "would do" : "waiting", lines: told };
}

function timeOf(seconds: number): string {
	return new Date(seconds * 1_000).toISOString();
}

function deployConfigOf(
	{ preset, options: { ownersPath } }: Adding,
	{ assets, outflowCaps }: AssetPlan,
): DeployConfig {
	const { attesterSet, confirmations, delays, ...roles } = parseJsonFile(ownersSchema, ownersPath);
	const venue = preset.venues[preset.venue];
	const settlement = preset.tokens.find(({ symbol }) => symbol === preset.settlementToken);
	if (!venue || !settlement) throw new Error("the preset has no venue or no settlement token");
	return parseDeployConfig(
		{
			chainId: preset.chainId,
			name: preset.name,
			kind: preset.kind,
			uniswap: {
				factory: venue.factory.value,
				router: venue.router.value,
				quoterV2: venue.quoterV2.value,
			},
			wrappedNative: preset.wrappedNative.value,
			settlementToken: settlement.address.value,
			...(preset.sequencerUptimeFeed ? { sequencerUptimeFeed: preset.sequencerUptimeFeed.value } : {}),
			permit2: preset.infrastructure.permit2.value,
			assets,
			attesterSet,
			roles,
			...(delays ? { delays } : {}),
			outflowCaps,
			...(confirmations === undefined ? {} : { confirmations }),
		},
		`the preset with ${ownersPath}`,
	);
}

/** The kind of a cap on fills, as numbered by the vault. */
const fillCap = 0;

/**
 * A cap is kept if it is this near to the value at the current price, so that the owners need not sign for each price
 * move.
 */
const tolerancePercent = 25n;

/** Returns the vault's caps that stay as they are, by symbol. */
async function readKeptCaps(
	client: Client,
	{ deployment, wanted }: { deployment: ChainDeployment; wanted: Readonly<Record<string, string>> },
): Promise<Record<string, string>> {
	const kept: Record<string, string> = {};
	for (const { symbol, address } of deployment.assets) {
		const [cap] = await readContract(client, {
			address: deployment.contracts.vault,
			abi: geoVaultAbi,
			functionName: "capOf",
			args: [fillCap, address, zeroAddress],
		});
		const now = BigInt(wanted[symbol] ?? 0);
		const difference = cap > now ? cap - now : now - cap;
		if (now > 0n && difference * 100n <= now * tolerancePercent) kept[symbol] = String(cap);
	}
	return kept;
}

type Placed =
	| { state: "done" | "done already"; deployment: ChainDeployment; reports: StepReport[] }
	/** Steps that only an owner can do, since the deployer has handed over. */
	| { state: "for owners"; accessManager: Address; steps: StepReport["step"][] }
	| { state: "would do"; steps: StepReport["step"][] };

/**
 * Deploys the contracts, or finds them. Every step reads the chain first, so a run continues after an interrupted
 * one. With `canSend` false nothing is sent, and the missing steps are returned.
 */
async function placeContracts(
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
