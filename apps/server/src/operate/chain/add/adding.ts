import { dirname, join } from "node:path";
import type { Deployment } from "@geoswap/protocol";
import { type Address, createPublicClient, type Hex, http, type PublicClient } from "viem";
import { type EvmChainConfig, evmChains } from "../../../config/chain-config.ts";
import type { ConfigFile } from "../../../config/config.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { checkedConfig, readConfigFile, readDeployment, writeWhole } from "../config-file.ts";
import type { EvmPreset } from "../preset-schema.ts";
import { canaryEnds } from "./run-canary.ts";

/** How a step ended. After a step that waits or failed, no further step runs. The command can be run again. */
export type Outcome = {
	state: "done" | "done already" | "would do" | "waiting" | "failed";
	lines: string[];
};

export type AddOptions = {
	configPath: string;
	rpcUrls: readonly string[];
	webSocketUrls: readonly string[];
	ownersPath: string;
	/**
	 * The deployer's key. Without it nothing is deployed, and `deployer` names the account whose contracts are
	 * searched.
	 */
	deployerKey: Hex | undefined;
	deployer: Address | undefined;
	/** The account that the chain is offered to until the canary has returned. */
	accountId: string | undefined;
	apiUrl: string | undefined;
	apiKey: string | undefined;
	walletKey: Hex | undefined;
	inventoryUsd: number;
	isDryRun: boolean;
	/** How often the chain is polled for a transaction's receipt. */
	pollingIntervalMs: number;
	nowMs: () => number;
};

/** A chain that is being added. The steps share it. */
export type Adding = {
	preset: EvmPreset;
	options: AddOptions;
	/** A client of the preferred endpoint. */
	client: PublicClient;
	/** Returns the path of a file about the chain, beside the configuration. */
	chainFile: (name: string) => string;
	/** The age of the newest final block, once an endpoint has returned it. */
	seenFinalitySeconds: number | undefined;
};

export function startAdding(preset: EvmPreset, options: AddOptions): Adding {
	const [rpcUrl] = options.rpcUrls;
	if (rpcUrl === undefined) throw new ConfigError("--rpc", "is missing; name an endpoint of the chain");
	return {
		preset,
		options,
		client: createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) }),
		chainFile: (name) => join(dirname(options.configPath), "chains", `${preset.chainId}${name}`),
		seenFinalitySeconds: undefined,
	};
}

/** The chain as configured, the others, and the files. */
export type Configured = {
	chain: EvmChainConfig;
	others: EvmChainConfig[];
	file: ConfigFile;
	deployment: Deployment;
};

/** Returns the chain as configured, or undefined if it is not configured, as in a dry run. */
export function readConfigured({
	preset: { chainId },
	options: { configPath },
}: Adding): Configured | undefined {
	const { file, deploymentPath } = readConfigFile(configPath);
	const deployment = readDeployment(deploymentPath);
	if (!file.chains[chainId] || !deployment.chains.some((one) => one.chainId === chainId)) return undefined;
	const config = checkedConfig(configPath, file, deployment);
	const chain = evmChains(config).find((one) => one.chainId === chainId);
	const others = evmChains(config).filter((one) => one.chainId !== chainId);
	return chain && { chain, others, file, deployment };
}

/** Returns the ends of the canary's swaps: the chain, and one that the canary's account is offered. */
export function endsOf(
	{ options: { accountId } }: Adding,
	{ chain, others }: Configured,
): ReturnType<typeof canaryEnds> {
	const offered = others.filter(
		({ onlyAccounts }) => !onlyAccounts || onlyAccounts.includes(accountId ?? ""),
	);
	return canaryEnds(
		chain.deployment,
		offered.map(({ deployment }) => deployment),
	);
}

/** Returns true if the chain is offered to all accounts, which happens once the canary has returned. */
export function hasCanaryReturned({ preset: { chainId }, options: { configPath } }: Adding): boolean {
	return !readConfigFile(configPath).file.chains[chainId]?.onlyAccounts;
}

export function writeConfig({ options: { configPath } }: Adding, file: ConfigFile): void {
	writeWhole(configPath, `${JSON.stringify(file, null, "\t")}\n`);
}
