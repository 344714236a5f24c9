import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type EvmChainConfig, evmChains } from "../../config/chain-config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { checkedConfig, readConfigFile, readDeployment, writeWhole } from "./config-file.ts";

type Removal = { state: "waiting" | "removed" | "would do" | "removed already"; lines: string[] };

/** Time to restart every API in turn, in addition to the time in which an order can still be opened. */
const restartSeconds = 180;

/**
 * Removes a chain from the service without losing a swap. First the chain is no longer quoted, then every swap ends,
 * then the chain leaves the configuration. Each run goes as far as it can and reports what it waits for.
 */
export async function removeChain({
	configPath,
	chainId,
	countOpen,
	readInventory,
	isDryRun,
	nowMs,
}: {
	configPath: string;
	chainId: number;
	/** Counts the swaps from or to the chain that have not ended. */
	countOpen: () => Promise<number>;
	/** Reads what the vault holds, as text. */
	readInventory: (chain: EvmChainConfig) => Promise<string[]>;
	isDryRun: boolean;
	nowMs: number;
}): Promise<Removal> {
	const { file, deploymentPath } = readConfigFile(configPath);
	const deployment = readDeployment(deploymentPath);
	const terms = file.chains[chainId];
	if (!terms) return { state: "removed already", lines: [`${configPath} has no chain ${chainId}`] };
	const chain = evmChains(checkedConfig(configPath, file, deployment)).find((one) => one.chainId === chainId);
	if (!chain) throw new ConfigError(configPath, `has no EVM chain ${chainId}`);
	const { [chainId]: _, ...others } = file.chains;
	const without = { ...file, chains: others };
	// Another part of the configuration may need the chain. That is checked before anything is drained.
	checkedConfig(configPath, without, deployment);

	const marker = join(dirname(configPath), "chains", `${chainId}.draining`);
	const isDrained = terms.onlyAccounts?.length === 0 && existsSync(marker);
	if (!isDrained) {
		const line = `${chain.deployment.name} is not quoted any more, once each API has been restarted; swaps under way go on`;
		if (isDryRun) return { state: "would do", lines: [line, ...(await whatIsLeft())] };
		const drained = { ...file, chains: { ...file.chains, [chainId]: { ...terms, onlyAccounts: [] } } };
		checkedConfig(configPath, drained, deployment);
		writeWhole(configPath, `${JSON.stringify(drained, null, "\t")}\n`);
		writeWhole(marker, `${new Date(nowMs).toISOString()}\n`);
		return {
			state: "waiting",
			lines: [
				line,
				`restart each API now, then run again in ${chain.openSeconds + restartSeconds} s or later`,
			],
		};
	}

	const sinceMs = Date.parse(readFileSync(marker, "utf8").trim());
	const waitSeconds = Math.ceil((sinceMs - nowMs) / 1_000) + chain.openSeconds + restartSeconds;
	if (!(waitSeconds <= 0)) {
		const line = `an order that was quoted before the chain was drained can still be opened; run again in ${waitSeconds} s`;
		return { state: "waiting", lines: [line] };
	}
	const open = await countOpen();
	if (open > 0) {
		return {
			state: "waiting",
			lines: [`${open} swaps from or to ${chain.deployment.name} have not ended; run again later`],
		};
	}
	const left = await whatIsLeft();
	if (isDryRun)
		return { state: "would do", lines: [`no swap is open: ${configPath} would lose the chain`, ...left] };
	writeWhole(configPath, `${JSON.stringify(without, null, "\t")}\n`);
	rmSync(marker);
	const line = "removed from the configuration; restart each API, the workers and the attesters";
	return { state: "removed", lines: [line, ...left] };

	async function whatIsLeft(): Promise<string[]> {
		const { contracts } = chain?.deployment ?? {};
		const inventory = await (chain ? readInventory(chain) : []);
		return [
			`the vault ${contracts?.vault} holds ${inventory.length > 0 ? inventory.join(", ") : "nothing"}; a member of TREASURY takes it out with withdraw(token, to, amount)`,
			"the deployment file keeps the chain, because callers pin it and old orders name its contracts",
			"relayers keep their gas; send it on with their keys",
		];
	}
}
