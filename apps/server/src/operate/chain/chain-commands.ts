import { existsSync } from "node:fs";
import { type Address, createClient, formatUnits, getAddress, http, isAddress } from "viem";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { readBalances } from "../../chain/evm/read/read-balances.ts";
import { type EvmChainConfig, firstUrl } from "../../config/chain-config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readConfig } from "../../config/read-config.ts";
import { parsePrivateKey } from "../../config/secrets.ts";
import { createUnendedCounts } from "../../watch/count-unended.ts";
import type { Finding } from "../check/finding.ts";
import { judgeFeeModel, judgeMethods } from "../probe/judge-methods.ts";
import { type EndpointFacts, probeEndpoint } from "../probe/probe-endpoint.ts";
import { withDatabase } from "../with-database.ts";
import { addChain, type StepReport } from "./add/add-chain.ts";
import { describeStep } from "./add/describe-step.ts";
import { applySettings, expectEvm } from "./apply-settings.ts";
import { checkPreset } from "./check-preset.ts";
import { readPreset, readPresets } from "./read-presets.ts";
import { removeChain } from "./remove-chain.ts";

/** Prints every preset, and whether the configuration has the chain. */
export function chainListCommand({ config, json }: { config: string; json?: boolean }): void {
	const configured = existsSync(config) ? readConfig(config).chains : [];
	const rows = readPresets().map(({ slug, preset }) => {
		const found = configured.find((chain) =>
			preset.kind === "solana" ? chain.kind === "solana" : chain.chainId === preset.chainId,
		);
		return {
			name: slug,
			chain: preset.name,
			chainId: preset.kind === "solana" ? null : preset.chainId,
			testnet: preset.testnet,
			kind: preset.kind,
			tokens: preset.tokens.map(({ symbol }) => symbol),
			isConfigured: found !== undefined,
			unknown: pathsWhere(preset, (fact) => fact.value === null),
			oneSource: pathsWhere(preset, (fact) => fact.oneSource === true),
		};
	});
	if (json) {
		console.log(JSON.stringify(rows));
		return;
	}
	const widths = { name: 18, id: 10, kind: 10, state: 16 };
	for (const row of rows) {
		console.log(
			[
				row.name.padEnd(widths.name),
				String(row.chainId ?? "").padEnd(widths.id),
				row.kind.padEnd(widths.kind),
				(row.isConfigured ? "configured" : "not configured").padEnd(widths.state),
				`${row.tokens.join(" ")}${row.unknown.length > 0 ? `; unknown: ${row.unknown.length}` : ""}${row.oneSource.length > 0 ? `; with one source: ${row.oneSource.length}` : ""}`,
			].join(""),
		);
	}
	console.log("\nunknown values and values with one source are named by --json");
}

/**
 * Returns the paths of facts and terms for which the condition holds. List elements are named instead of numbered.
 */
function pathsWhere(
	value: unknown,
	holds: (fact: { value: unknown; oneSource?: unknown }) => boolean,
	path: readonly string[] = [],
): string[] {
	if (typeof value !== "object" || value === null) return [];
	if ("value" in value) return holds(value) ? [path.join(".")] : [];
	return Object.entries(value).flatMap(([key, inner]) =>
		pathsWhere(inner, holds, [...path, Array.isArray(value) ? nameOf(inner, key) : key]),
	);
}

function nameOf(element: unknown, index: string): string {
	const { pair, symbol } = (element ?? {}) as { pair?: string; symbol?: string };
	return pair ?? symbol ?? index;
}

const timeoutMs = 10_000;

/** Checks a preset against a node of its chain. Returns the exit code: 1 if the chain differs from the preset. */
export async function chainCheckCommand({
	name,
	rpc,
	set = [],
	without = [],
	json,
}: {
	name: string;
	rpc: string;
	set?: string[];
	without?: string[];
	json?: boolean;
}): Promise<number> {
	const preset = applySettings(expectEvm(readPreset(name)), { settings: set, without });
	const client = createClient({ transport: http(rpc, { timeout: timeoutMs, retryCount: 1 }) });
	const findings = await checkPreset(client, preset);
	if (json) console.log(JSON.stringify(findings));
	else
		for (const { part, result, message } of findings) console.log(`${result.padEnd(5)}${part}: ${message}`);
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}

type Options = {
	name: string;
	config: string;
	rpc: string[];
	ws?: string[];
	owners: string;
	deployer?: string;
	account?: string;
	api?: string;
	inventoryUsd: string;
	set?: string[];
	without?: string[];
	dryRun?: boolean;
	json?: boolean;
};

const waitsForSomeone = 3;

/** Returns the exit code: 0 if the chain is offered, 1 if a step failed, 3 if an operator or owner must act first. */
export async function chainAddCommand(options: Options): Promise<number> {
	const { name, config, rpc, ws = [], owners, deployer, account, api, set = [], without = [] } = options;
	const { DEPLOYER_PRIVATE_KEY, GEOSWAP_CANARY_API_KEY, GEOSWAP_CANARY_PRIVATE_KEY } = process.env;
	const preset = applySettings(expectEvm(readPreset(name)), { settings: set, without });
	const say = options.json ? console.error : console.log;
	const reports: StepReport[] = [];
	say(`${preset.name} (chain ${preset.chainId})`);
	const last = await addChain(
		preset,
		{
			configPath: config,
			rpcUrls: rpc,
			webSocketUrls: ws,
			ownersPath: owners,
			deployerKey: key("DEPLOYER_PRIVATE_KEY", DEPLOYER_PRIVATE_KEY),
			deployer: deployer === undefined ? undefined : parseDeployer(deployer),
			accountId: account,
			apiUrl: api,
			apiKey: GEOSWAP_CANARY_API_KEY,
			walletKey: key("GEOSWAP_CANARY_PRIVATE_KEY", GEOSWAP_CANARY_PRIVATE_KEY),
			inventoryUsd: Number(options.inventoryUsd),
			isDryRun: options.dryRun ?? false,
			pollingIntervalMs: 250,
			nowMs: Date.now,
		},
		(report) => {
			reports.push(report);
			say(describeStep(report));
		},
	);
	if (options.json) console.log(JSON.stringify(reports));
	if (last.state === "failed") return 1;
	return last.state === "waiting" ? waitsForSomeone : 0;
}

function parseDeployer(text: string): Address {
	if (isAddress(text)) return getAddress(text);
	throw new ConfigError("--deployer", "is not an address, or its checksum is wrong");
}

function key(name: Parameters<typeof parsePrivateKey>[0], text: string | undefined) {
	return text === undefined || text === "" ? undefined : parsePrivateKey(name, text);
}

/** Measures an endpoint of a chain and prints the facts. Returns the exit code: 1 if the service cannot use it. */
export async function chainProbeCommand({
	name,
	rpc,
	ws,
	json,
}: {
	name: string;
	rpc: string;
	ws?: string;
	json?: boolean;
}): Promise<number> {
	const { chainId, kind } = expectEvm(readPreset(name));
	const facts = await probeEndpoint({ url: rpc, chainId, webSocketUrl: ws });
	const findings = judge(facts, kind);
	if (json) {
		// Amounts of wei exceed JSON's numbers.
		console.log(
			JSON.stringify({ facts, findings }, (_, value) => (typeof value === "bigint" ? String(value) : value)),
		);
	} else {
		for (const line of linesOf(facts)) console.log(line);
		for (const { part, result, message } of findings) console.log(`${result.padEnd(5)}${part}: ${message}`);
	}
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}

function judge(facts: EndpointFacts, kind: Parameters<typeof judgeFeeModel>[1]["kind"]): Finding[] {
	return [
		...judgeMethods(facts).map((found) => ({ part: "methods", ...found })),
		{ part: "fees", ...judgeFeeModel(facts.feeModel, { kind }) },
	];
}

function linesOf({ methods, ...facts }: EndpointFacts): string[] {
	return Object.entries({ ...facts, ...methods }).map(
		([name, { value, how }]) =>
			`${name}: ${value === undefined ? "unknown" : JSON.stringify(value)} (${how})`,
	);
}

/** Returns the exit code: 0 if the chain is removed, 3 if its swaps must end first. */
export async function chainRemoveCommand({
	name,
	config,
	dryRun = false,
	json,
}: {
	name: string;
	config: string;
	dryRun?: boolean;
	json?: boolean;
}): Promise<number> {
	const chainId = /^[1-9]\d*$/.test(name) ? Number(name) : expectEvm(readPreset(name)).chainId;
	const nowMs = Date.now();
	const removal = await removeChain({
		configPath: config,
		chainId,
		countOpen: () => countOpen(chainId, nowMs),
		readInventory,
		isDryRun: dryRun,
		nowMs,
	});
	if (json) console.log(JSON.stringify(removal));
	else console.log([removal.state, ...removal.lines.map((line) => `  ${line}`)].join("\n"));
	return removal.state === "waiting" ? waitsForSomeone : 0;
}

function countOpen(chainId: number, nowMs: number): Promise<number> {
	return withDatabase(async (db) => {
		const counts = await createUnendedCounts({ db, paces: [] }).read({ nowMs });
		return counts
			.filter(({ origin, destination }) => [origin, destination].includes(String(chainId)))
			.reduce((sum, { count }) => sum + Number(count), 0);
	});
}

async function readInventory(config: EvmChainConfig): Promise<string[]> {
	const chain = connectChain({ ...config, rpcUrl: firstUrl(config) });
	const { assets, contracts } = config.deployment;
	const blockNumber = Number(await chain.client.getBlockNumber());
	const holders = [contracts.vault, ...contracts.earlierVaults];
	const tokens = assets.map(({ address }) => address);
	const balances = await readBalances(chain, { holders, tokens, blockNumber });
	return assets.flatMap(({ symbol, decimals }, i) => {
		const balance = balances[i] ?? 0n;
		return balance > 0n ? `${formatUnits(balance, decimals)} ${symbol}` : [];
	});
}
