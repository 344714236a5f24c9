import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { refuseSolanaDevelopmentKeys } from "@geoswap/keys/development/refuse-solana-development-keys";
import { SignerError } from "@geoswap/keys/signer-error";
import type { SolanaDeployment } from "@geoswap/protocol";
import type { Address } from "viem";
import { attesterSetOfChain, evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import {
	readPepper,
	readSealKeys,
	readSecret,
	readWebhookKeys,
	type SecretName,
} from "../../config/secrets.ts";
import type { KeyOpening } from "../../signer/open-chain-keys.ts";
import { openReceiptKey, receiptField } from "../../signer/open-receipt-key.ts";
import { openRelayers, relayersField } from "../../signer/open-relayers.ts";
import { openSigners } from "../../signer/open-signers.ts";
import { openSolanaRole, solanaField, solanaRoleNames } from "../../signer/open-solana-keys.ts";
import { openTreasurer, refuseSharedTreasurer, treasurersField } from "../../signer/open-treasurer.ts";
import { check, type Finding, ok } from "./finding.ts";

/** Checks the secrets of the processes, each as the process does when it starts. */
export async function checkSecrets(processes: ReadonlySet<string>): Promise<Finding[]> {
	const questions = new Map<SecretName, () => unknown>();
	const isSet = (name: SecretName) => questions.set(name, () => new URL(readSecret(name)));
	if (processes.has("api")) {
		isSet("API_DATABASE_URL");
		isSet("REDIS_URL");
		questions.set("GEOSWAP_SEAL_KEYS", () => readSealKeys());
		questions.set("GEOSWAP_API_KEY_PEPPER", () => readPepper());
	}
	if (processes.has("worker")) isSet("WORKER_DATABASE_URL");
	if (processes.has("audit")) isSet("AUDITOR_DATABASE_URL");
	if (processes.has("console")) isSet("CONSOLE_DATABASE_URL");
	const findings = [...questions].map(([name, read]) => checkReading(name, read));
	if (processes.has("api") || processes.has("worker")) findings.push(checkWebhookKeys());
	return (await Promise.all(findings)).flat();
}

/** Checks the keys of webhooks' secrets, if there are any. Without them the service has no webhooks. */
function checkWebhookKeys(): Promise<Finding[]> {
	return check("GEOSWAP_WEBHOOK_KEYS", async () =>
		ok(readWebhookKeys({ nowMs: Date.now }) ? "is set and valid" : "is not set, so there are no webhooks"),
	);
}

/** The means to open the keys that a configuration names. */
type Opening = Omit<KeyOpening, "keys">;

/** Checks that every key of a worker can be opened, and is the expected one. */
export async function checkWorkerKeys(config: Config, opening: Opening): Promise<Finding[]> {
	const solana = solanaChain(config);
	const roles = solana ? solanaRoleNames : [];
	const { relayers, treasurers } = openSenders(config, opening);
	const findings = [
		checkReading(relayersField(config.keys), () => relayers),
		...(treasurers ? [checkReading(treasurersField(config.keys), () => treasurers)] : []),
		...roles.map((role) =>
			checkReading(
				solanaField(role, config.keys),
				() =>
					solana && openSolanaRole(role, { ...opening, keys: config.keys, deployment: solana.deployment }),
			),
		),
	];
	return (await Promise.all(findings)).flat();
}

/** Checks that the key of receipts, if there is one, can be opened and is in the deployment file. */
export async function checkReceiptKey(config: Config): Promise<Finding[]> {
	const keys = config.api.receipts;
	const signers = openSigners({ settings: keys, nowMs: Date.now });
	try {
		return await check(receiptField(keys), async () => {
			const signer = await openReceiptKey({ keys, signers, deployment: config.deployment });
			if (!signer) return ok("is not set, so no receipts are signed");
			refuseDevelopmentKeys(
				[signer.address],
				evmChains(config).map(({ chainId }) => chainId),
			);
			return ok(`signs receipts as ${signer.address}`);
		});
	} finally {
		await signers.close();
	}
}

function checkReading(name: string, read: () => unknown): Promise<Finding[]> {
	return check(name, async () => {
		try {
			await read();
		} catch (error) {
			// The message of any other error may quote the secret.
			const isSafe = error instanceof ConfigError || error instanceof SignerError;
			throw isSafe ? error : new ConfigError(name, "is not valid");
		}
		return ok("is set and valid");
	});
}

/** Checks for publicly known keys, with which each process refuses to start. */
export async function checkSolanaKeys(deployment: SolanaDeployment | undefined): Promise<Finding[]> {
	if (!deployment) return [];
	return check("Solana keys", async () => {
		refuseSolanaDevelopmentKeys(deployment);
		return ok("none of the deployment's keys is a development key");
	});
}

type Addresses = { relayers: Map<number, Address[]>; treasurers: Map<number, Address> };

/** Returns the addresses of the keys that send transactions; none if keys are wrong, which their check reports. */
export async function knownSenders(config: Config, opening: Opening): Promise<Addresses> {
	const opened = openSenders(config, opening);
	const [relayers, treasurers = new Map()] = await Promise.all([
		opened.relayers.catch(() => new Map()),
		opened.treasurers?.catch(() => new Map()),
	]);
	return { relayers, treasurers };
}

/** Opens the keys that send transactions on EVM chains. There are no treasurers unless the treasury acts. */
function openSenders(
	config: Config,
	opening: Opening,
): { relayers: Promise<Addresses["relayers"]>; treasurers: Promise<Addresses["treasurers"]> | undefined } {
	const relayers = readRelayers(config, opening);
	if (config.treasury.mode !== "act") return { relayers, treasurers: undefined };
	// The check of the relayers reports what is wrong with their keys.
	const known = relayers.catch(() => new Map());
	return { relayers, treasurers: readTreasurers(config, { ...opening, relayers: known }) };
}

/** Returns the relayers' addresses, by chain. Throws a message that an operator can act on. */
async function readRelayers(
	{ keys, ...config }: Pick<Config, "chains" | "keys">,
	opening: Opening,
): Promise<Addresses["relayers"]> {
	const byChain = evmChains(config).map(async ({ chainId }): Promise<[number, Address[]]> => {
		const relayers = await openRelayers(chainId, { ...opening, keys });
		return [chainId, relayers.map(({ address }) => address)];
	});
	return new Map(await Promise.all(byChain));
}

/** Returns the treasurers' addresses, by chain. Throws a message that an operator can act on. */
async function readTreasurers(
	{ keys, chains }: Pick<Config, "chains" | "keys">,
	{ relayers: known, ...opening }: Opening & { relayers: Promise<Addresses["relayers"]> },
): Promise<Addresses["treasurers"]> {
	const field = treasurersField(keys);
	const attesters = chains.flatMap((chain) => attesterSetOfChain(chain).attesters);
	const byChain = evmChains({ chains }).map(async ({ chainId }): Promise<[number, Address]> => {
		const { address } = await openTreasurer(chainId, { ...opening, keys });
		const relayers = (await known).get(chainId) ?? [];
		refuseSharedTreasurer(address, { chainId, relayers, attesters, field });
		return [chainId, address];
	});
	return new Map(await Promise.all(byChain));
}
