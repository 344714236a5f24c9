import { DeployError } from "@geoswap/contracts";
import { maskUrl } from "@geoswap/keys/config/mask-url";
import { createClient, getChains } from "@geoswap/sdk";
import { ConfigError } from "../../../config/config-error.ts";
import { connectAttester } from "../../../round/attestation/attester-client.ts";
import { judgeFeeModel, judgeMethods } from "../../probe/judge-methods.ts";
import { type EndpointFacts, probeEndpoint } from "../../probe/probe-endpoint.ts";
import { checkPreset } from "../check-preset.ts";
import { checkedConfig, readConfigFile, readDeployment } from "../config-file.ts";
import type { EvmPreset } from "../preset-schema.ts";
import {
	type Adding,
	type AddOptions,
	endsOf,
	hasCanaryReturned,
	type Outcome,
	readConfigured,
	startAdding,
	writeConfig,
} from "./adding.ts";
import { checkFunding } from "./check-funding.ts";
import { makeContracts } from "./make-contracts.ts";
import { missingValues } from "./missing-values.ts";
import { runCanary } from "./run-canary.ts";
import { writeConfiguration } from "./write-configuration.ts";

/** The steps, in the order in which they run. */
const steps = {
	endpoints: probeEndpoints,
	preset: verifyPreset,
	contracts: makeContracts,
	configuration: writeConfiguration,
	attesters: requestAttesters,
	funding: checkFunding,
	service: requestService,
	canary: sendCanary,
	offer: offerChain,
} satisfies Record<string, (adding: Adding) => Outcome | Promise<Outcome>>;
type AddStep = keyof typeof steps;

export type StepReport = Outcome & { step: AddStep };

/**
 * Adds the preset's chain to the service, step by step. Every step first reads what is already done, and reports to
 * `tell`. Returns the last report.
 */
export async function addChain(
	preset: EvmPreset,
	options: AddOptions,
	tell: (report: StepReport) => void,
): Promise<StepReport> {
	const adding = startAdding(preset, options);
	let last: StepReport = { step: "endpoints", state: "failed", lines: [] };
	for (const step of Object.keys(steps) as AddStep[]) {
		last = { step, ...(await outcomeOf(step, adding)) };
		tell(last);
		if (last.state === "waiting" || last.state === "failed") break;
	}
	return last;
}

/** Runs the step. Returns an error that an operator can act on as its outcome. */
async function outcomeOf(step: AddStep, adding: Adding): Promise<Outcome> {
	try {
		return await steps[step](adding);
	} catch (error) {
		if (error instanceof DeployError)
			return { state: "failed", lines: [error.message, `next: ${error.next}`] };
		if (error instanceof ConfigError) return { state: "failed", lines: [error.message] };
		const { shortMessage, message } = error as { shortMessage?: string; message?: string };
		return { state: "failed", lines: [shortMessage ?? message ?? String(error)] };
	}
}

/**
 * Checks every address of the preset on the chain, and lists the values that the operator must provide because no
 * source has them.
 */
async function verifyPreset({ client, preset, seenFinalitySeconds }: Adding): Promise<Outcome> {
	const findings = await checkPreset(client, preset);
	const wrong = findings.filter(({ result }) => result !== "ok");
	const lines = wrong.map(({ part, result, message }) => `${result} ${part}: ${message}`);
	const isRefused = wrong.some(({ result }) => result === "fail");
	const missing = missingValues(preset, { seenFinalitySeconds });
	lines.push(`${findings.length - wrong.length} of ${findings.length} checks passed`);
	if (missing.length > 0) {
		lines.push("no source has these values; give them:", ...missing);
	}
	return { state: isRefused || missing.length > 0 ? "failed" : "done", lines };
}

/** Measures each endpoint. Fails if the service cannot use one, or if the chain's fees differ from the preset. */
async function probeEndpoints(adding: Adding): Promise<Outcome> {
	const { preset, options } = adding;
	const { rpcUrls } = options;
	const { chainId } = preset;
	const lines: string[] = [];
	let isRefused = false;
	const probed: EndpointFacts[] = [];
	for (const [i, url] of rpcUrls.entries()) {
		probed.push(await probeEndpoint({ url, chainId, webSocketUrl: options.webSocketUrls[i] }));
	}
	for (const [i, facts] of probed.entries()) {
		const host = maskUrl(rpcUrls[i] ?? "");
		adding.seenFinalitySeconds ??= facts.finality.value?.seconds;
		lines.push(
			`${host}: answers in ${known(facts.latencyMs.value?.p50)} ms, a block each ${known(facts.blockSeconds.value)} s, finalized is ${known(facts.finality.value?.seconds)} s behind, logs of ${known(facts.logRangeBlocks.value)} blocks`,
		);
		const others = probed.filter((one) => one !== facts);
		for (const { result, message } of [
			...judgeMethods(facts, others),
			judgeFeeModel(facts.feeModel, { kind: preset.kind }),
		]) {
			lines.push(`${result} ${host}: ${message}`);
			isRefused ||= result === "fail";
		}
	}
	return { state: isRefused ? "failed" : "done", lines };
}

function known(value: number | undefined): string {
	return value === undefined ? "an unknown number of" : String(value);
}

/** Offers the chain to all accounts. */
function offerChain(adding: Adding): Outcome {
	const { chainId } = adding.preset;
	const { configPath, isDryRun } = adding.options;
	const { file, deploymentPath } = readConfigFile(configPath);
	const terms = file.chains[chainId];
	if (isDryRun || !terms) return { state: "would do", lines: ["offer the chain to all accounts"] };
	if (!terms.onlyAccounts) return { state: "done already", lines: ["the chain is offered to all accounts"] };
	const { onlyAccounts: _, ...others } = terms;
	const changed = { ...file, chains: { ...file.chains, [chainId]: others } };
	checkedConfig(configPath, changed, readDeployment(deploymentPath));
	writeConfig(adding, changed);
	return {
		state: "done",
		lines: ["offered to all accounts, once each API has been restarted"],
	};
}

const attesterTimeoutMs = 4_000;

/** Checks that enough attesters read the chain. */
async function requestAttesters(adding: Adding): Promise<Outcome> {
	const { chainId } = adding.preset;
	const { isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found) return { state: "would do", lines: ["request from the attesters whether they read the chain"] };
	const { attesters: listed = [] } = found.file;
	const { threshold } = found.chain.deployment.attesterSet;
	const seen = await Promise.all(
		listed.map(async ({ url }) => {
			const heartbeats = await connectAttester({ url, timeoutMs: attesterTimeoutMs })
				.heartbeats()
				.catch(() => []);
			return heartbeats.some((heartbeat) => heartbeat.chainId === chainId);
		}),
	);
	const count = seen.filter(Boolean).length;
	const line = `${count} of ${listed.length} attesters read the chain; ${threshold} are needed`;
	if (count >= threshold) return { state: "done", lines: [line] };
	if (isDryRun) return { state: "would do", lines: [line] };
	const next = `give each attester the new deployment file, a separate endpoint under chains.${chainId}, and a restart; then run again`;
	return { state: "waiting", lines: [line, next] };
}

/** Checks that the API quotes the chain to the canary. */
async function requestService(adding: Adding): Promise<Outcome> {
	const { chainId } = adding.preset;
	const { apiUrl, apiKey, isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found || isDryRun) return { state: "would do", lines: ["wait until the API lists the chain as live"] };
	if (apiUrl === undefined || apiKey === undefined) {
		const next = `restart the workers with the relayers' keys of chain ${chainId}, restart the API, then run again with --api, --account and GEOSWAP_CANARY_API_KEY`;
		return { state: "waiting", lines: [next] };
	}
	const listed = await getChains(createClient({ baseUrl: apiUrl, apiKey }))
		.then(({ chains }) => chains.find((one) => one.chainId === chainId))
		.catch((error: unknown) => (error as Error).message);
	if (typeof listed === "object" && listed.live)
		return { state: "done", lines: ["the API quotes the chain"] };
	const why =
		typeof listed === "string"
			? `the API does not answer: ${listed}`
			: listed
				? "the API lists the chain, but has no prices of it yet"
				: "the API does not list the chain to this key";
	const next = `restart the workers with the relayers' keys of chain ${chainId}, restart the API, then run again`;
	return { state: "waiting", lines: [why, next] };
}

/** Swaps about a dollar to the chain and back. */
async function sendCanary(adding: Adding): Promise<Outcome> {
	const { apiUrl, apiKey, walletKey, isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found || isDryRun) {
		return { state: "would do", lines: ["swap about one dollar to the chain and back"] };
	}
	if (hasCanaryReturned(adding)) return { state: "done already", lines: ["the chain is offered to all"] };
	if (!apiUrl || !apiKey || !walletKey) {
		return {
			state: "waiting",
			lines: ["set GEOSWAP_CANARY_PRIVATE_KEY, a wallet with a few dollars; then run again"],
		};
	}
	const lines: string[] = [];
	const legs = await runCanary({
		...endsOf(adding, found),
		apiUrl,
		apiKey,
		walletKey,
		pins: found.deployment,
		minimumUsd: found.file.price?.minimumUsd ?? 1,
		folder: adding.chainFile(".canary"),
		onProgress: (line) => void lines.push(line),
	});
	for (const { from, to, swap } of legs) {
		lines.push(
			`settled: ${from.symbol} on ${from.chainId} to ${swap.funds.amount} ${to.symbol} on ${to.chainId}, ${swap.swapId}`,
		);
	}
	return { state: legs.every(({ wasDone }) => wasDone) ? "done already" : "done", lines };
}
