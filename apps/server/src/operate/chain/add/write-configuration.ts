import type { ConfigFile } from "../../../config/config.ts";
import { checkedConfig, readConfigFile, readDeployment, writeWhole } from "../config-file.ts";
import type { EvmPreset } from "../preset-schema.ts";
import { type Adding, type Outcome, writeConfig } from "./adding.ts";
import { chainTermsOf, type Reason } from "./chain-terms-of.ts";

/** Adds the chain to the configuration for the canary's account only, and writes the reason for each number. */
export function writeConfiguration(adding: Adding): Outcome {
	const { preset, options, chainFile } = adding;
	const { configPath, rpcUrls, isDryRun } = options;
	const { chainId } = preset;
	const { file, deploymentPath } = readConfigFile(configPath);
	const { accountId } = options;
	const existing = file.chains[chainId];
	if (existing?.onlyAccounts && accountId !== undefined && !existing.onlyAccounts.includes(accountId)) {
		const line = `offered to the account ${accountId} too, once each API has been restarted`;
		if (isDryRun) return { state: "would do", lines: [line] };
		const onlyAccounts = [...existing.onlyAccounts, accountId];
		writeConfig(adding, { ...file, chains: { ...file.chains, [chainId]: { ...existing, onlyAccounts } } });
		return { state: "done", lines: [line] };
	}
	if (existing) {
		return {
			state: "done already",
			lines: [`${configPath} has the chain; its numbers are left as they are`],
		};
	}
	const { terms, reasons } = chainTermsOf(preset, {
		rpcUrls,
		webSocketUrls: options.webSocketUrls,
		onlyAccounts: accountId === undefined ? [] : [accountId],
		maximumUsd: file.price?.maximumUsd ?? 250_000,
	});
	const offeredTo = accountId === undefined ? "no account" : `the account ${accountId} only`;
	const lines = [
		...reasons.map(({ field, value, why }) => `${field} = ${value}: ${why}`),
		`offered to ${offeredTo} until the canary has returned`,
	];
	if (isDryRun) return { state: "would do", lines };
	const changed: ConfigFile = { ...file, chains: { ...file.chains, [chainId]: terms } };
	checkedConfig(configPath, changed, readDeployment(deploymentPath));
	writeWhole(chainFile(".md"), describeReasons(preset, reasons));
	writeConfig(adding, changed);
	return {
		state: "done",
		lines: [...lines, `written to ${configPath}; the reasons to ${chainFile(".md")}`],
	};
}

/**
 * Returns a page with the reason for each number of the chain, because the configuration is JSON, without comments.
 */
function describeReasons(preset: EvmPreset, reasons: readonly Reason[]): string {
	const rows = reasons.map(({ field, value, why }) => `| \`${field}\` | \`${value}\` | ${why} |`);
	return [
		`# ${preset.name}, chain ${preset.chainId}`,
		"",
		"Why the configuration has these numbers. Written by `geoswapd chain add`; edit it when you edit them.",
		"",
		"| Field | Value | Why |",
		"|---|---|---|",
		...rows,
		"",
	].join("\n");
}
