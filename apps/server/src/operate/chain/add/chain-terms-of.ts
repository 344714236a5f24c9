import type { ConfigFile } from "../../../config/config.ts";
import type { EvmPreset } from "../preset-schema.ts";

type Terms = ConfigFile["chains"][string];

/** A number of the configuration, and the reason for its value. */
export type Reason = { field: string; value: string; why: string };

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
			"There are two hosts or more: one that lies, or lags, cannot make the vault pay for a deposit above this value.",
		);
	}
	return { terms, reasons };

	function pollMs(): number {
		return Math.min(Math.max(minPollMs, (blockTimeMs.value ?? maxPollMs) / 2), maxPollMs);
	}

	function pollReason(): string {
		return blockTimeMs.value === null
			? "No source says how long a block takes: a few seconds, which is seldom too late and costs few calls."
			: `Half a block of ${blockTimeMs.value} ms, within ${minPollMs} and ${maxPollMs} ms: each question costs a call.`;
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
					? "No source names a smallest tip: the service's default."
					: `The smallest tip that nodes accept, by: ${sources}.`,
			),
			maximumTipWei: say(
				"maximumTipWei",
				String(maximum),
				minimum === 0n
					? "The chain takes no tips."
					: "The larger of the service's default and four times the smallest tip: it bounds what a node that lies about tips can cost.",
			),
		};
	}

	function unreleasedCap(): number {
		const { value, reason } = chosen.unreleasedCapUsd;
		if (value !== null && value >= maximumUsd) return say("unreleasedCapUsd", value, reason);
		return say(
			"unreleasedCapUsd",
			maximumUsd,
			"price.maximumUsd: with less, the largest swaps that the service offers would never be filled.",
		);
	}
}
