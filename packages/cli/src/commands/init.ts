import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import {
	type Config,
	findConfig,
	hashOf,
	homeOf,
	type LoadedConfig,
	parseDeployment,
	writeConfig,
} from "../config.ts";
import type { Call } from "../context.ts";
import { exitCode } from "../exit-code.ts";
import { type KeyName, openKeychain } from "../keychain.ts";
import { findChain, pinnedChains } from "../pinned-assets.ts";
import { askConfirm, askSecret, askText } from "../prompts.ts";
import { readDeployment } from "../read-deployment.ts";
import { findKey, parseEvmKey, parseSolanaKey } from "../read-keys.ts";

type InitOptions = {
	baseUrl?: string;
	deployment?: string;
	deploymentSha256?: string;
	rpc?: string[];
	keys: boolean;
};

/** Writes the configuration; what is not named stays as it is. */
export async function initCommand(call: Call, options: InitOptions): Promise<void> {
	const { io, output } = call;
	const canAsk = io.isInteractive && !output.isJson;
	const home = homeOf(io);
	// What cannot be read is to be replaced here, and by nothing else.
	const before = await findConfig(home).catch((error: unknown) => {
		if (error instanceof CliError) return undefined;
		throw error;
	});

	const baseUrl = checkUrl(
		"--base-url",
		options.baseUrl ??
			before?.baseUrl ??
			(canAsk ? await askText("Where is the service?", "https://…") : missing("--base-url")),
	);
	const isNew = options.deployment !== undefined || !before;
	const source = isNew
		? (options.deployment ??
			(canAsk
				? await askText("The operator's deployment.json: a file or an https address", "deployment.json")
				: missing("--deployment")))
		: before.deployment.source;
	const text = isNew ? await readDeployment(source) : await storedDeployment(home);
	const sha256 = hashOf(text);
	const pins = parseDeployment(text, source);
	await expectApproved(call, { source, sha256, pins, baseUrl, before, options, isNew, canAsk });

	const rpc = { ...before?.rpc, ...readEndpoints(pins, options.rpc ?? []) };
	const config: Config = { baseUrl, deployment: { source, sha256 }, rpc };
	await writeConfig(home, config, text);
	if (isPlainHttp(baseUrl)) {
		output.say(
			["warning", `${baseUrl} is not encrypted: whoever is on the way reads your API key`],
			"yellow",
		);
	}
	const stored = canAsk && options.keys ? await askKeys(call, home) : [];
	const chains = pinnedChains(pins).map(({ chainId, name }) => ({
		chainId,
		name,
		hasRpc: rpc[chainId] !== undefined,
	}));
	await output.result({ home, baseUrl, deployment: config.deployment, chains, storedKeys: stored }, [
		["written", join(home, "config.json")],
		["service", baseUrl],
		["pins", source],
		`  ${sha256}`,
		...chains.map(({ chainId, name, hasRpc }): [string, string] => [
			"chain",
			`${name} (${chainId})${hasRpc ? "" : `, no endpoint: geoswap init --rpc ${chainId}=<url>`}`,
		]),
		["next", "geoswap chains"],
	]);
}

/** The pins decide what a wallet signs: somebody has to have compared them. */
async function expectApproved(
	{ output }: Call,
	{
		source,
		sha256,
		pins,
		baseUrl,
		before,
		options,
		isNew,
		canAsk,
	}: {
		source: string;
		sha256: string;
		pins: LoadedConfig["pins"];
		baseUrl: string;
		before: LoadedConfig | undefined;
		options: InitOptions;
		isNew: boolean;
		canAsk: boolean;
	},
): Promise<void> {
	const { deploymentSha256: expected } = options;
	if (expected !== undefined) {
		if (expected === sha256) return;
		throw refused(`${source} has the hash ${sha256}, not the one that was given. Get the right file.`);
	}
	if (!isNew || before?.deployment.sha256 === sha256) return;
	if (/^https?:/.test(source) && new URL(source).host === new URL(baseUrl).host) {
		throw refused(
			"The deployment file comes from the service itself, which it is there to check. Get it from elsewhere, or give its hash with --deployment-sha256.",
		);
	}
	output.say(["pins", source]);
	// Without a label: it is to be compared, and must stay on one line.
	output.say(`  ${sha256}`);
	for (const { chainId, name } of pinnedChains(pins)) output.say(["", `${name} (${chainId})`]);
	if (before) {
		output.say("instead of", "yellow");
		output.say(`  ${before.deployment.sha256}`, "yellow");
	}
	if (canAsk) {
		if (await askConfirm("Is this the hash that the operator published?")) return;
		throw refused("Nothing was written. Ask the operator for the right file and its hash.");
	}
	if (before) {
		throw refused(
			`The pins would change, from ${before.deployment.sha256} to ${sha256}. Compare the new hash with the operator's and give it with --deployment-sha256.`,
		);
	}
}

const keyQuestions = [
	["api-key", "API key of the service"],
	["evm-key", "Private key of your EVM wallet, hex"],
	["solana-key", "Key of your Solana wallet, base58 or JSON array"],
] as const satisfies [KeyName, string][];

/** Those that are not known yet; nothing is an answer. */
async function askKeys({ io, output }: Call, home: string): Promise<KeyName[]> {
	const keychain = openKeychain(home);
	const stored: KeyName[] = [];
	for (const [name, question] of keyQuestions) {
		if (await findKey(name, { env: io.env, keychain })) continue;
		const secret = (await askSecret(`${question} (Enter: not now)`)).trim();
		if (secret === "") continue;
		if (name === "evm-key") await parseEvmKey(secret);
		if (name === "solana-key") await parseSolanaKey(secret);
		await keychain.set(name, secret);
		output.say(["stored", `${name}, in the keychain`]);
		stored.push(name);
	}
	return stored;
}

function readEndpoints(pins: LoadedConfig["pins"], entries: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		entries.map((entry) => {
			const [, chain, url] = /^([^=]+)=(.+)$/.exec(entry) ?? [];
			// The entry may have somebody's key in it.
			if (chain === undefined || url === undefined) {
				throw new CliError("--rpc is <chain>=<url>, such as 8453=https://…", {
					code: "USAGE",
					section: "init",
				});
			}
			return [String(findChain(pins, chain).chainId), checkUrl("--rpc", url)];
		}),
	);
}

async function storedDeployment(home: string): Promise<string> {
	return readDeployment(join(home, "deployment.json"));
}

function checkUrl(option: string, text: string): string {
	try {
		const url = new URL(text);
		if (/^https?:$/.test(url.protocol)) return option === "--base-url" ? text.replace(/\/+$/, "") : text;
	} catch {
		// Told below.
	}
	throw new CliError(`${option}: that is no http address. Write it whole, such as https://swaps.example.`, {
		code: "USAGE",
		section: "init",
	});
}

function isPlainHttp(baseUrl: string): boolean {
	const { protocol, hostname } = new URL(baseUrl);
	return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

function missing(option: string): never {
	throw new CliError(`${option} is missing, and there is nobody to ask. See geoswap init --help.`, {
		code: "USAGE",
		section: "init",
	});
}

function refused(message: string): CliError {
	return new CliError(message, { code: "INVALID_DEPLOYMENT", exit: exitCode.refused, section: "init" });
}
