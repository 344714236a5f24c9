import { join } from "node:path";
import { askConfirm, askSecret, askText } from "../ask-accept.ts";
import { askKeys } from "../ask-keys.ts";
import { CliError } from "../cli-error.ts";
import {
	type Config,
	findSettings,
	hashOf,
	homeOf,
	type LoadedConfig,
	parseDeployment,
	readStoredPins,
	writeConfig,
} from "../config.ts";
import type { Call } from "../context.ts";
import { exitCode } from "../exit-code.ts";
import { openKeychain } from "../keychain.ts";
import { pinnedChains } from "../pinned-assets.ts";
import { readBalances } from "../read-balance.ts";
import { addressOf, readDeployment } from "../read-deployment.ts";
import { readEndpoints } from "../read-endpoints.ts";

type InitOptions = {
	baseUrl?: string;
	deployment?: string;
	deploymentSha256?: string;
	rpc?: string[];
	keys: boolean;
};

/** Writes the configuration. Settings that are not given stay unchanged. */
export async function initCommand(call: Call, options: InitOptions): Promise<void> {
	const { io, output } = call;
	const canAsk = io.isInteractive && !output.isJson;
	const home = homeOf(io);
	const before = await findSettings(home).catch((error: unknown) => {
		// Only this command replaces a configuration that cannot be read.
		if (!(error instanceof CliError)) throw error;
		output.say(["warning", `${error.message} Its content is replaced.`], "yellow");
		return undefined;
	});

	const baseUrl = checkBaseUrl(
		options.baseUrl ??
			before?.baseUrl ??
			(canAsk ? await askText("What is the address of the service?", "https://…") : missing("--base-url")),
	);
	const kept = before && options.deployment === undefined ? await findStoredPins(home, before) : undefined;
	const source =
		(kept === undefined ? options.deployment : before?.deployment.source) ??
		(canAsk
			? await askText("The operator's deployment.json: a file or an https address", "deployment.json")
			: missing("--deployment"));
	const text = kept ?? (await readDeployment(source));
	const sha256 = hashOf(text);
	const { pins, unread } = parseDeployment(text, source);
	for (const { chain, problem } of unread) {
		const advice = "Nothing is signed for it. A newer version of geoswap may read it";
		output.say(["warning", `chain ${chain} is left out: ${problem}. ${advice}`], "yellow");
	}
	const given = readEndpoints(pins, options.rpc ?? []);
	await checkEndpoints(call, { pins, rpc: given });
	const rpc = { ...before?.rpc, ...given };
	await expectApproved(call, { source, sha256, pins, baseUrl, before, options, canAsk });

	const config: Config = { baseUrl, deployment: { source, sha256 }, rpc };
	await writeConfig(home, config, text);
	if (isPlainHttp(baseUrl)) {
		output.say(
			["warning", `${baseUrl} is not encrypted, so others on the network can read your API key`],
			"yellow",
		);
	}
	const stored =
		canAsk && options.keys
			? await askKeys({ env: io.env, keychain: openKeychain(home), ask: askSecret, say: output.say })
			: [];
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

/** Refuses an endpoint of another chain. One that does not answer now is kept, because it may answer later. */
async function checkEndpoints(
	{ output }: Call,
	{ pins, rpc }: Pick<LoadedConfig, "pins" | "rpc">,
): Promise<void> {
	const chains = pinnedChains(pins).filter(({ chainId }) => rpc[chainId] !== undefined);
	await Promise.all(
		chains.map(async (chain) => {
			try {
				// The balances of no tokens: all that is read is the chain.
				await readBalances({ pins, rpc }, chain, { wallet: "", assets: [] });
			} catch (error) {
				if (!(error instanceof CliError) || !error.retryable) throw error;
				output.say(["warning", error.message], "yellow");
			}
		}),
	);
}

/** Throws unless the user has compared the pins, because they decide what a wallet signs. */
async function expectApproved(
	{ output }: Call,
	{
		source,
		sha256,
		pins,
		baseUrl,
		before,
		options,
		canAsk,
	}: {
		source: string;
		sha256: string;
		pins: LoadedConfig["pins"];
		baseUrl: string;
		before: Config | undefined;
		options: InitOptions;
		canAsk: boolean;
	},
): Promise<void> {
	const { deploymentSha256: expected } = options;
	if (expected !== undefined) {
		if (expected === sha256) return;
		throw refused(`${source} has the hash ${sha256}, not the one that was given. Get the right file.`);
	}
	if (before?.deployment.sha256 === sha256) return;
	if (isSameHost(addressOf(source), new URL(baseUrl))) {
		throw refused(
			"The deployment file comes from the service that it is meant to check. Get it from elsewhere, or give its hash with --deployment-sha256.",
		);
	}
	output.say(["pins", source]);
	// The hash has no label, because the user is to compare it and it must stay on one line.
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
	throw refused(
		before
			? `The pins would change, from ${before.deployment.sha256} to ${sha256}. Compare the new hash with the operator's and give it with --deployment-sha256.`
			: `The hash of the deployment file was not confirmed, ${sha256}. Compare it with the operator's and give it with --deployment-sha256.`,
	);
}

function isSameHost(a: URL | undefined, b: URL): boolean {
	// A host's name has the same meaning with a trailing dot.
	const nameOf = ({ hostname }: URL) => hostname.replace(/\.$/, "");
	return a !== undefined && nameOf(a) === nameOf(b);
}

/** Returns undefined if the pins are damaged and have to be given again. */
async function findStoredPins(home: string, settings: Config): Promise<string | undefined> {
	return readStoredPins(home, settings).catch((error: unknown) => {
		if (error instanceof CliError) return undefined;
		throw error;
	});
}

function checkBaseUrl(text: string): string {
	const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
	if (!url) {
		throw new CliError(
			"--base-url: that is not an http address. Write it in full, such as https://swaps.example.",
			{
				code: "USAGE",
				section: "init",
			},
		);
	}
	// Paths are appended to the base URL.
	if (url.search === "" && url.hash === "" && url.username === "" && url.password === "") {
		return url.href.replace(/[/?#]+$/, "");
	}
	throw new CliError(
		"--base-url: an address with a user, a query or a fragment cannot be used. Write it without, such as https://swaps.example.",
		{ code: "USAGE", section: "init" },
	);
}

function isPlainHttp(baseUrl: string): boolean {
	const { protocol, hostname } = new URL(baseUrl);
	return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

function missing(option: string): never {
	throw new CliError(
		`${option} is missing, and there is no terminal for a prompt. See geoswap init --help.`,
		{
			code: "USAGE",
			section: "init",
		},
	);
}

function refused(message: string): CliError {
	return new CliError(message, { code: "INVALID_DEPLOYMENT", exit: exitCode.refused, section: "init" });
}
