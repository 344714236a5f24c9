import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type DeployConfig, DeployError, parseDeployConfig } from "@geoswap/contracts";
import {
	type ChainDeployment,
	type Deployment,
	formatDeployment,
	withChainDeployment,
} from "@geoswap/protocol";
import { createClient as createSdkClient, getChains } from "@geoswap/sdk";
import { type Account, type Address, createPublicClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { connectChain } from "../../../chain/evm/chain-client.ts";
import { type EvmChainConfig, evmChains, firstUrl } from "../../../config/chain-config.ts";
import type { ConfigFile } from "../../../config/config.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { maskUrl } from "../../../config/mask-url.ts";
import { parseJsonFile } from "../../../config/parse-json-file.ts";
import { connectAttester } from "../../../round/attestation/attester-client.ts";
import { judgeFeeModel, judgeMethods } from "../../probe/judge-endpoint.ts";
import { type EndpointFacts, probeEndpoint } from "../../probe/probe-endpoint.ts";
import { checkPreset } from "../check-preset.ts";
import { checkedConfig, readConfigFile, readDeployment, writeWhole } from "../config-file.ts";
import type { EvmPreset } from "../preset-schema.ts";
import { chainTermsOf, type Reason } from "./chain-terms-of.ts";
import { missingValues } from "./missing-values.ts";
import { ownersSchema } from "./owners.ts";
import { placeContracts } from "./place-contracts.ts";
import { type AssetPlan, planAssets } from "./plan-assets.ts";
import { readFunding, readStableFunding } from "./read-funding.ts";
import { readKeptCaps } from "./read-kept-caps.ts";
import { canaryEnds, runCanary } from "./run-canary.ts";
import { safeBatch } from "./safe-batch.ts";

const addSteps = [
	"endpoints",
	"preset",
	"contracts",
	"configuration",
	"attesters",
	"funding",
	"service",
	"canary",
	"offer",
] as const;
type AddStep = (typeof addSteps)[number];

/** How a step ended. After one that waits or failed, no further step is taken; the command can be run again. */
type StepState = "done" | "done already" | "would do" | "waiting" | "failed";
export type StepReport = { step: AddStep; state: StepState; lines: string[] };

export type AddOptions = {
	configPath: string;
	rpcUrls: readonly string[];
	webSocketUrls: readonly string[];
	ownersPath: string;
	/** The deployer's key. Without it nothing is deployed, and `deployer` says whose contracts to look for. */
	deployerKey: Hex | undefined;
	deployer: Address | undefined;
	/** The account that the chain is offered to until the canary has returned. */
	accountId: string | undefined;
	apiUrl: string | undefined;
	apiKey: string | undefined;
	walletKey: Hex | undefined;
	stockUsd: number;
	isDryRun: boolean;
	/** How often the chain is asked whether a transaction was mined. */
	pollingIntervalMs: number;
	nowMs: () => number;
};

type Outcome = { state: StepState; lines: string[] };

/** USD that the canary's wallet should hold: several times the smallest swap. */
const canaryUsd = 10;
const attesterTimeoutMs = 4_000;

/**
 * Adds the preset's chain to the service, step by step. Every step looks first at what is already so, and reports to
 * `tell`. Returns the last report.
 */
export async function addChain(
	preset: EvmPreset,
	options: AddOptions,
	tell: (report: StepReport) => void,
): Promise<StepReport> {
	const { configPath, rpcUrls, isDryRun } = options;
	const [rpcUrl] = rpcUrls;
	if (rpcUrl === undefined) throw new ConfigError("--rpc", "is missing: name an endpoint of the chain");
	const { chainId } = preset;
	const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) });
	const chainFile = (name: string) => join(dirname(configPath), "chains", `${chainId}${name}`);
	let seenFinalitySeconds: number | undefined;
	let deployed: ChainDeployment | undefined;

	const run: Record<AddStep, () => Promise<Outcome>> = {
		endpoints,
		preset: checkedPreset,
		contracts,
		configuration: async () => configuration(),
		attesters,
		funding,
		service,
		canary,
		offer: async () => offer(),
	};
	let last: StepReport = { step: "endpoints", state: "failed", lines: [] };
	for (const step of addSteps) {
		last = { step, ...(await run[step]().catch(problem)) };
		tell(last);
		if (last.state === "waiting" || last.state === "failed") break;
	}
	return last;

	/** Returns an error that a person can act on as the outcome of a step. */
	function problem(error: unknown): Outcome {
		if (error instanceof DeployError)
			return { state: "failed", lines: [error.message, `next: ${error.next}`] };
		if (error instanceof ConfigError) return { state: "failed", lines: [error.message] };
		const { shortMessage, message } = error as { shortMessage?: string; message?: string };
		return { state: "failed", lines: [shortMessage ?? message ?? String(error)] };
	}

	async function endpoints(): Promise<Outcome> {
		const lines: string[] = [];
		let isRefused = false;
		const probed: EndpointFacts[] = [];
		for (const [i, url] of rpcUrls.entries()) {
			probed.push(await probeEndpoint({ url, chainId, webSocketUrl: options.webSocketUrls[i] }));
		}
		for (const [i, facts] of probed.entries()) {
			const host = maskUrl(rpcUrls[i] ?? "");
			seenFinalitySeconds ??= facts.finality.value?.seconds;
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

	async function checkedPreset(): Promise<Outcome> {
		const findings = await checkPreset(client, preset);
		const wrong = findings.filter(({ result }) => result !== "ok");
		const lines = wrong.map(({ part, result, message }) => `${result} ${part}: ${message}`);
		const isRefused = wrong.some(({ result }) => result === "fail");
		const missing = missingValues(preset, { seenFinalitySeconds });
		lines.push(`${findings.length - wrong.length} of ${findings.length} checks passed`);
		if (missing.length > 0) {
			lines.push("no source says these values; give them:", ...missing);
		}
		return { state: isRefused || missing.length > 0 ? "failed" : "done", lines };
	}

	function account(): Account {
		const { deployerKey, deployer } = options;
		if (deployerKey) return privateKeyToAccount(deployerKey);
		if (deployer) return { address: deployer, type: "json-rpc" };
		throw new ConfigError(
			"DEPLOYER_PRIVATE_KEY",
			"is not set in the environment. Set it to the deployer's key, or name the deployer with --deployer to look for its contracts",
		);
	}

	async function contracts(): Promise<Outcome> {
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
		const config = deployConfigOf(plan);
		const lines = [
			`offers ${plan.assets.map(({ symbol, paths }) => (paths.length > 0 ? `${symbol} (pools ${paths.map((path) => path.join("+")).join(", ")})` : symbol)).join(", ")}`,
			...plan.leftOut.map(({ symbol, because }) => `leaves out ${symbol}: ${because}`),
		];
		const placed = await placeContracts(client, {
			rpcUrl: rpcUrls[0] ?? "",
			account: account(),
			config,
			earlier,
			canSend: options.deployerKey !== undefined && !isDryRun,
			pollingIntervalMs: options.pollingIntervalMs,
		});
		if (placed.state === "for owners") return forOwners(placed.steps, config, lines);
		if (placed.state === "would do") {
			const steps = placed.steps.map(({ name, creates }) => `${name}${creates ? ` at ${creates}` : ""}`);
			if (isDryRun) return { state: "would do", lines: [...lines, ...steps] };
			const next = "set DEPLOYER_PRIVATE_KEY, whose account pays for these steps, and run again";
			return { state: "waiting", lines: [...lines, ...steps, next] };
		}
		const all = withChainDeployment(deployment, placed.deployment);
		deployed = all.chains.find((one) => one.chainId === chainId);
		const isRecorded = JSON.stringify(earlier) === JSON.stringify(deployed);
		if (!isRecorded && !isDryRun) writeWhole(deploymentPath, formatDeployment(all));
		const { vault, escrow, delegate, accessManager } = placed.deployment.contracts;
		lines.push(
			`vault ${vault}, escrow ${escrow}, delegate ${delegate}, AccessManager ${accessManager}`,
			"the owners have nothing to sign",
		);
		return { state: placed.state === "done" || !isRecorded ? "done" : "done already", lines };
	}

	function forOwners(
		steps: readonly { name: string; to: Address; data: Hex }[],
		{ roles }: DeployConfig,
		lines: string[],
	): Outcome {
		const path = chainFile(".safe.json");
		const batch = safeBatch({
			chainId,
			name: preset.name,
			safe: roles.admin,
			calls: steps,
			nowMs: options.nowMs(),
		});
		const named = steps.map(({ name }) => name);
		if (isDryRun) return { state: "would do", lines: [...lines, "the owners would sign:", ...named] };
		writeWhole(path, `${JSON.stringify(batch, null, "\t")}\n`);
		const next = `the owners of ${roles.admin} import ${path} into Safe's Transaction Builder, sign and send; then run again:`;
		return { state: "waiting", lines: [...lines, next, ...named] };
	}

	function deployConfigOf({ assets, outflowCaps }: AssetPlan): DeployConfig {
		const { attesterSet, confirmations, ...roles } = parseJsonFile(ownersSchema, options.ownersPath);
		const venue = preset.venues[preset.venue];
		const settlement = preset.tokens.find(({ symbol }) => symbol === preset.settlementToken);
		if (!venue || !settlement) throw new Error("the preset has no venue or no settlement token");
		return parseDeployConfig(
			{
				chainId,
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
				outflowCaps,
				...(confirmations === undefined ? {} : { confirmations }),
			},
			`the preset with ${options.ownersPath}`,
		);
	}

	function configuration(): Outcome {
		const { file, deploymentPath } = readConfigFile(configPath);
		const { accountId } = options;
		const existing = file.chains[chainId];
		if (existing?.onlyAccounts && accountId !== undefined && !existing.onlyAccounts.includes(accountId)) {
			const line = `offered to the account ${accountId} too, once each API has reloaded its configuration`;
			if (isDryRun) return { state: "would do", lines: [line] };
			const onlyAccounts = [...existing.onlyAccounts, accountId];
			writeConfig({ ...file, chains: { ...file.chains, [chainId]: { ...existing, onlyAccounts } } });
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
		const offeredTo = accountId === undefined ? "nobody" : `the account ${accountId} only`;
		const lines = [
			...reasons.map(({ field, value, why }) => `${field} = ${value}: ${why}`),
			`offered to ${offeredTo} until the canary has returned`,
		];
		if (isDryRun) return { state: "would do", lines };
		const changed: ConfigFile = { ...file, chains: { ...file.chains, [chainId]: terms } };
		checkedConfig(configPath, changed, readDeployment(deploymentPath));
		writeWhole(chainFile(".md"), describeReasons(preset, reasons));
		writeConfig(changed);
		return {
			state: "done",
			lines: [...lines, `written to ${configPath}; the reasons to ${chainFile(".md")}`],
		};
	}

	function writeConfig(file: ConfigFile): void {
		writeWhole(configPath, `${JSON.stringify(file, null, "\t")}\n`);
	}

	/** Returns the chain as configured. In a dry run it may not be. */
	function configured():
		| { chain: EvmChainConfig; others: EvmChainConfig[]; file: ConfigFile; deployment: Deployment }
		| undefined {
		const { file, deploymentPath } = readConfigFile(configPath);
		const deployment = readDeployment(deploymentPath);
		if (!file.chains[chainId] || !deployment.chains.some((one) => one.chainId === chainId)) return undefined;
		const config = checkedConfig(configPath, file, deployment);
		const chain = evmChains(config).find((one) => one.chainId === chainId);
		const others = evmChains(config).filter((one) => one.chainId !== chainId);
		return chain && { chain, others, file, deployment };
	}

	async function attesters(): Promise<Outcome> {
		const found = configured();
		if (!found) return { state: "would do", lines: ["ask the attesters whether they see the chain"] };
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
		const line = `${count} of ${listed.length} attesters see the chain; ${threshold} are needed`;
		if (count >= threshold) return { state: "done", lines: [line] };
		if (isDryRun) return { state: "would do", lines: [line] };
		const next = `give each attester the new deployment file, an endpoint of its own under chains.${chainId}, and a restart; then run again`;
		return { state: "waiting", lines: [line, next] };
	}

	async function funding(): Promise<Outcome> {
		const found = configured();
		if (!found) return { state: "would do", lines: ["list what relayers, vault and canary need"] };
		const { operators } = parseJsonFile(ownersSchema, options.ownersPath);
		const listed = await readFunding(connectChain({ ...found.chain, rpcUrl: firstUrl(found.chain) }), {
			relayers: operators as Address[],
			stockUsd: options.stockUsd,
			tip: BigInt(found.chain.minimumTipWei),
		});
		// A canary on its way has its money elsewhere.
		const isToStart = !(await hasCanaryReturned()) && !existsSync(chainFile(".canary"));
		if (options.walletKey && isToStart) {
			const { start } = ends(found);
			const starting = [found.chain, ...found.others].find((one) => one.chainId === start.chainId);
			const there = createPublicClient({ transport: http(firstUrl(starting ?? found.chain)) });
			const holder = privateKeyToAccount(options.walletKey).address;
			const what = `wallet of the canary, on chain ${start.chainId}`;
			const token = { address: start.token, symbol: start.symbol, decimals: start.decimals };
			listed.push(await readStableFunding(there, { what, holder, usd: canaryUsd, token }));
		}
		const lines = listed.map(
			({ what, address, symbol, needed, has, isEnough }) =>
				`${isEnough ? "ok" : "SEND"} ${what}: ${address} needs ${needed} ${symbol}, has ${has}`,
		);
		lines.push("the EntryPoint needs no deposit: the relayers pay for user operations");
		if (listed.every(({ isEnough }) => isEnough)) return { state: "done", lines };
		return isDryRun
			? { state: "would do", lines }
			: { state: "waiting", lines: [...lines, "send what is missing, then run again"] };
	}

	function ends({ chain, others }: { chain: EvmChainConfig; others: readonly EvmChainConfig[] }) {
		const offered = others.filter(
			({ onlyAccounts }) => !onlyAccounts || onlyAccounts.includes(options.accountId ?? ""),
		);
		return canaryEnds(
			chain.deployment,
			offered.map(({ deployment }) => deployment),
		);
	}

	async function hasCanaryReturned(): Promise<boolean> {
		return !readConfigFile(configPath).file.chains[chainId]?.onlyAccounts;
	}

	async function service(): Promise<Outcome> {
		const { apiUrl, apiKey } = options;
		const found = configured();
		if (!found || isDryRun)
			return { state: "would do", lines: ["wait until the API lists the chain as live"] };
		if (apiUrl === undefined || apiKey === undefined) {
			const next = `restart the workers with the relayers' keys of chain ${chainId}, reload the API, then run again with --api, --account and GEOSWAP_CANARY_API_KEY`;
			return { state: "waiting", lines: [next] };
		}
		const listed = await getChains(createSdkClient({ baseUrl: apiUrl, apiKey }))
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
		const next = `restart the workers with the relayers' keys of chain ${chainId}, reload the API, then run again`;
		return { state: "waiting", lines: [why, next] };
	}

	async function canary(): Promise<Outcome> {
		const { apiUrl, apiKey, walletKey } = options;
		const found = configured();
		if (!found || isDryRun) {
			return { state: "would do", lines: ["swap about one dollar to the chain and back"] };
		}
		if (await hasCanaryReturned()) return { state: "done already", lines: ["the chain is offered to all"] };
		if (!apiUrl || !apiKey || !walletKey) {
			return {
				state: "waiting",
				lines: ["set GEOSWAP_CANARY_PRIVATE_KEY, a wallet with a few dollars; then run again"],
			};
		}
		const lines: string[] = [];
		const legs = await runCanary({
			...ends(found),
			apiUrl,
			apiKey,
			walletKey,
			pins: found.deployment,
			minimumUsd: found.file.price?.minimumUsd ?? 1,
			folder: chainFile(".canary"),
			onProgress: (line) => void lines.push(line),
		});
		for (const { from, to, swap } of legs) {
			lines.push(
				`settled: ${from.symbol} on ${from.chainId} to ${swap.funds.amount} ${to.symbol} on ${to.chainId}, ${swap.swapId}`,
			);
		}
		return { state: legs.every(({ wasDone }) => wasDone) ? "done already" : "done", lines };
	}

	function offer(): Outcome {
		const { file, deploymentPath } = readConfigFile(configPath);
		const terms = file.chains[chainId];
		if (isDryRun || !terms) return { state: "would do", lines: ["offer the chain to all accounts"] };
		if (!terms.onlyAccounts)
			return { state: "done already", lines: ["the chain is offered to all accounts"] };
		const { onlyAccounts: _, ...others } = terms;
		const changed = { ...file, chains: { ...file.chains, [chainId]: others } };
		checkedConfig(configPath, changed, readDeployment(deploymentPath));
		writeConfig(changed);
		return {
			state: "done",
			lines: ["offered to all accounts, once each API has reloaded its configuration"],
		};
	}
}

/** Returns a page that says why each number of the chain is what it is: the configuration is JSON, without comments. */
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

function known(value: number | undefined): string {
	return value === undefined ? "an unknown number of" : String(value);
}
