import type { ConfigFile } from "../../../config/config.ts";
import { checkedConfig, readConfigFile, readDeployment, writeWhole } from "../config-file.ts";
import type { EvmPreset } from "../preset-schema.ts";
import { type Adding, type Outcome, writeConfig } from "./adding.ts";

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

type Terms = ConfigFile["chains"][string];

/** A number of the configuration, and the reason for its value. */
type Reason = { field: string; value: string; why: string };

/** The minimum tip for a chain if no source states one. It is the service's default. */
const usualTipWei = 1_000_000n;
const usualMaxTipWei = 5_000_000_000n;
/** Deposits above this value count once two hosts return them. */
const agreeAboveUsd = 1_000;
/** How often a block is requested, which is about twice per block, but at most twice a second. */
const minPollMs = 500;
const maxPollMs = 4_000;

/** Returns the chain's entry of the configuration, with a reason for each number. */
export function chainTermsOf(
	preset: EvmPreset,
	{
		rpcUrls,
		webSocketUrls,
		onlyAccounts,
		maximumUsd,
	}: {
		rpcUrls: readonly string[];
		/** In the order of `rpcUrls`. There may be fewer. */
		webSocketUrls: readonly string[];
		onlyAccounts: string[];
		/** The largest swap that the service offers. */
		maximumUsd: number;
	},
): { terms: Terms; reasons: Reason[] } {
	const { terms: chosen, fees, blockTimeMs } = preset;
	const hosts = new Set(rpcUrls.map((url) => new URL(url).host));
	const reasons: Reason[] = [];
	const say = <Value>(field: string, value: Value, why: string): Value => {
		reasons.push({ field, value: JSON.stringify(value), why });
		return value;
	};
	const term = <Name extends keyof EvmPreset["terms"]>(name: Name) => {
		const { value, reason } = chosen[name];
		if (value === null) throw new Error(`terms.${name} has no value`);
		return say(name, value as NonNullable<EvmPreset["terms"][Name]["value"]>, reason);
	};

	const terms: Terms = {
		nodes: rpcUrls.map((url, i) => {
			const webSocketUrl = webSocketUrls[i];
			return { url, ...(webSocketUrl === undefined ? {} : { webSocketUrl }) };
		}),
		onlyAccounts,
		...(preset.explorerUrl?.value ? { explorerUrl: preset.explorerUrl.value } : {}),
		pollMs: say("pollMs", pollMs(), pollReason()),
		depths: term("depths"),
		finalitySeconds: term("finalitySeconds"),
		openSeconds: term("openSeconds"),
		fillSeconds: term("fillSeconds"),
		refundSeconds: term("refundSeconds"),
		replaceAfterBlocks: term("replaceAfterBlocks"),
		...tips(),
		unfinalCapUsd: term("unfinalCapUsd"),
		unreleasedCapUsd: unreleasedCap(),
	};
	if (hosts.size > 1) {
		terms.agreeAboveUsd = say(
			"agreeAboveUsd",
			agreeAboveUsd,
			"There are two hosts or more. A single host that lies or lags cannot make the vault pay for a deposit above this value.",
		);
	}
	return { terms, reasons };

	function pollMs(): number {
		return Math.min(Math.max(minPollMs, (blockTimeMs.value ?? maxPollMs) / 2), maxPollMs);
	}

	function pollReason(): string {
		return blockTimeMs.value === null
			? "No source has the time of a block, so this is a few seconds, which is seldom too late and costs few calls."
			: `Half a block of ${blockTimeMs.value} ms, within ${minPollMs} and ${maxPollMs} ms, because each poll costs a call.`;
	}

	function tips(): Pick<Terms, "minimumTipWei" | "maximumTipWei"> {
		const known = fees.minimumPriorityFeeWei.value;
		const minimum = known === null ? usualTipWei : BigInt(known);
		// A chain that takes no tips needs no reading of other transactions' tips.
		const maximum = minimum === 0n ? 0n : minimum * 4n > usualMaxTipWei ? minimum * 4n : usualMaxTipWei;
		const sources = fees.minimumPriorityFeeWei.sources.map((key) => preset.sources[key] ?? key).join("; ");
		return {
			minimumTipWei: say(
				"minimumTipWei",
				String(minimum),
				known === null
					? "No source names a smallest tip, so this is the service's default."
					: `The smallest tip that nodes accept, by: ${sources}.`,
			),
			maximumTipWei: say(
				"maximumTipWei",
				String(maximum),
				minimum === 0n
					? "The chain takes no tips."
					: "The larger of the service's default and four times the smallest tip. It bounds what a node that lies about tips can cost.",
			),
		};
	}

	function unreleasedCap(): number {
		const { value, reason } = chosen.unreleasedCapUsd;
		if (value !== null && value >= maximumUsd) return say("unreleasedCapUsd", value, reason);
		return say(
			"unreleasedCapUsd",
			maximumUsd,
			"price.maximumUsd, because with less the largest swaps that the service offers would never be filled.",
		);
	}
}
