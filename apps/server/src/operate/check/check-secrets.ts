import type { SolanaDeployment } from "@geoswap/protocol";
import { privateKeyToAddress } from "viem/accounts";
import { evmChains, solanaChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { parseKeysOf, solanaKeyNames } from "../../config/parse-solana-keys.ts";
import {
	parseRelayerKeys,
	readPepper,
	readSealKeys,
	readSecret,
	type SecretName,
} from "../../config/secrets.ts";
import { refuseDevelopmentKeys } from "../preflight/refuse-development-keys.ts";
import { refuseSolanaDevelopmentKeys } from "../preflight/refuse-solana-development-keys.ts";
import { check, type Finding, ok } from "./finding.ts";

/** Checks the secrets of the processes, each in the way that the process does when it starts. */
export async function checkSecrets(
	config: Config,
	{ processes }: { processes: ReadonlySet<string> },
): Promise<Finding[]> {
	const questions = new Map<SecretName, () => unknown>();
	const isSet = (name: SecretName) => questions.set(name, () => new URL(readSecret(name)));
	if (processes.has("api")) {
		isSet("API_DATABASE_URL");
		isSet("REDIS_URL");
		questions.set("GEOSWAP_SEAL_KEYS", () => readSealKeys());
		questions.set("GEOSWAP_API_KEY_PEPPER", () => readPepper());
	}
	if (processes.has("worker")) {
		isSet("WORKER_DATABASE_URL");
		isSet("AUDITOR_DATABASE_URL");
		questions.set("GEOSWAP_RELAYER_KEYS", () => readRelayers(config));
		const solana = solanaChain(config);
		if (solana) {
			for (const name of solanaKeyNames) {
				questions.set(name, () => parseKeysOf(name, readSecret(name), solana.deployment));
			}
		}
	}
	const findings = [...questions].map(([name, read]) =>
		check(name, async () => {
			try {
				await read();
			} catch (error) {
				// The message of any other error may quote the secret.
				throw error instanceof ConfigError ? error : new ConfigError(name, "is not valid");
			}
			return ok("is set and valid");
		}),
	);
	return (await Promise.all(findings)).flat();
}

/** Checks for publicly known keys, with which each process refuses to start. */
export async function checkSolanaKeys(deployment: SolanaDeployment | undefined): Promise<Finding[]> {
	if (!deployment) return [];
	return check("Solana keys", async () => {
		refuseSolanaDevelopmentKeys(deployment);
		return ok("none of the deployment's keys is a development key");
	});
}

/** Returns the relayers' addresses, by chain. Throws a message that a person can act on. */
export function readRelayers(config: Pick<Config, "chains">): Map<number, `0x${string}`[]> {
	const keys = parseRelayerKeys(readSecret("GEOSWAP_RELAYER_KEYS"));
	return new Map(
		evmChains(config).map(({ chainId }) => {
			const own = keys.get(chainId) ?? [];
			if (own.length === 0) throw new ConfigError("GEOSWAP_RELAYER_KEYS", `has no key for chain ${chainId}`);
			refuseDevelopmentKeys(own, [chainId]);
			return [chainId, own.map((key) => privateKeyToAddress(key))];
		}),
	);
}
