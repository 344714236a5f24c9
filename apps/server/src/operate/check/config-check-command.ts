import { maskUrl } from "@geoswap/keys/config/mask-url";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { expectConsole } from "../../config/config-problems.ts";
import type { ProcessName } from "../../config/process-name.ts";
import { readConfig } from "../../config/read-config.ts";
import { secretNames } from "../../config/secrets.ts";
import { openSigners, type Signers } from "../../signer/open-signers.ts";
import { checkAttester, checkAttesters } from "./check-attesters.ts";
import { checkDenyList } from "./check-deny-list.ts";
import { checkEvmChain } from "./check-evm-chain.ts";
import {
	checkReceiptKey,
	checkSecrets,
	checkSolanaKeys,
	checkWorkerKeys,
	knownSenders,
} from "./check-secrets.ts";
import { checkServices } from "./check-services.ts";
import { checkSolana } from "./check-solana.ts";
import { checkTreasury } from "./check-treasury.ts";
import { check, type Finding, ok, sayWhy } from "./finding.ts";

/** Returns the exit code: 0 if nothing failed, 1 if something did, 2 if the file itself is wrong. */
export async function configCheckCommand({
	config: path,
	for: names,
	offline: isOffline = false,
	json = false,
}: {
	config: string;
	for: readonly ProcessName[];
	offline?: boolean;
	json?: boolean;
}): Promise<number> {
	const processes = new Set<ProcessName>(names);
	const isAttester = processes.has("attester");
	if (isAttester && processes.size > 1) {
		throw new ConfigError("--for", "the attester has its own file; check it in a separate call");
	}
	let findings: Finding[];
	try {
		const found = await (isAttester
			? checkAttester(path, { isOffline })
			: checkAll(path, { processes, isOffline }));
		findings = [...(await check(path, async () => ok("is valid"))), ...found];
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		findings = sayWhy(error)
			.split("\n")
			.map((message): Finding => ({ part: path, result: "fail", message }));
		print(findings, { json });
		return 2;
	}
	print(findings, { json });
	return findings.some(({ result }) => result === "fail") ? 1 : 0;
}

async function checkAll(
	path: string,
	{ processes, isOffline }: { processes: ReadonlySet<string>; isOffline: boolean },
): Promise<Finding[]> {
	const config = readConfig(path);
	if (processes.has("console")) expectConsole(config, path);
	const signers = openSigners({ settings: config.keys, nowMs: Date.now });
	try {
		return await checkWith(config, { signers, processes, isOffline });
	} finally {
		await signers.close();
	}
}

async function checkWith(
	config: Config,
	{ signers, processes, isOffline }: { signers: Signers; processes: ReadonlySet<string>; isOffline: boolean },
): Promise<Finding[]> {
	const isWorker = processes.has("worker");
	const solana = solanaChain(config);
	const keyFindings = await Promise.all([
		checkSecrets(processes),
		isWorker ? checkWorkerKeys(config, { signers }) : Promise.resolve([]),
		processes.has("api") ? checkReceiptKey(config) : Promise.resolve([]),
		checkSolanaKeys(solana?.deployment),
		isWorker || processes.has("api") ? checkDenyList(config, { isOffline }) : Promise.resolve([]),
	]);
	if (isOffline) return keyFindings.flat();
	const senders = isWorker ? await knownSenders(config, { signers }) : undefined;
	// The console reads the database and the workers' metrics, and no chain.
	const hasChains = isWorker || processes.has("api") || processes.has("audit");
	const findings = await Promise.all([
		checkServices(config, { processes }),
		...(hasChains ? evmChains(config) : []).map((chain) =>
			checkEvmChain(chain, {
				service: config,
				relayers: senders?.relayers.get(chain.chainId) ?? [],
				treasurer: senders?.treasurers.get(chain.chainId),
			}),
		),
		solana && hasChains ? checkSolana(solana) : [],
		// Only a worker calls attesters.
		isWorker ? checkAttesters(config) : [],
		isWorker ? checkTreasury(config) : [],
	]);
	return [...keyFindings, ...findings].flat();
}

function print(findings: readonly Finding[], { json }: { json: boolean }): void {
	if (json) {
		console.log(JSON.stringify(findings));
		return;
	}
	for (const { part, result, message } of findings) {
		console.log(`${(result === "fail" ? "FAIL" : result).padEnd(6)}${part}: ${message}`);
	}
}

/**
 * Prints a configuration file with all defaults, as JSON. Of endpoints only the hosts are shown, because URLs often
 * hold a key.
 */
export function configPrintCommand({ config, env = false }: { config: string; env?: boolean }): void {
	const environment = Object.fromEntries(
		secretNames.map((name) => [name, process.env[name] ? "set" : "missing"]),
	);
	console.log(
		JSON.stringify(
			{ ...asInFile(readConfig(config)), ...(env && { environment }) },
			(_, value: unknown) => (isUrl(value) ? maskUrl(value) : value),
			"\t",
		),
	);
}

/** Returns the configuration with Solana apart from the EVM chains, as in the file. */
function asInFile(config: Config) {
	return { ...config, chains: evmChains(config), solana: solanaChain(config) };
}

function isUrl(value: unknown): value is string {
	return typeof value === "string" && /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}
