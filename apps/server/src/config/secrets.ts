import { readFileSync } from "node:fs";
import type { Milliseconds } from "@geoswap/protocol";
import type { Hex } from "viem";
import { ConfigError } from "./config-error.ts";
import { parseSealKeys, type SealKeys } from "./seal-keys.ts";

/**
 * Values that must not be in a file that is committed or printed. Each comes from the environment, or from a separate
 * file that the environment names.
 */
const variables = {
	DATABASE_URL: "postgres://user:password@host:5432/geoswap, the login that owns the tables",
	API_DATABASE_URL: "postgres://user:password@host:5432/geoswap, a login of the API's role",
	WORKER_DATABASE_URL: "postgres://user:password@host:5432/geoswap, a login of the worker's role",
	AUDITOR_DATABASE_URL: "postgres://user:password@host:5432/geoswap, a login of the auditor's role",
	CONSOLE_DATABASE_URL: "postgres://user:password@host:5432/geoswap, a login of the console's role",
	REDIS_URL: "redis://host:6379",
	GEOSWAP_SEAL_KEYS:
		"kid:32 bytes in base64url, comma-separated; each but the first is followed by @ and the time from which it seals",
	GEOSWAP_WEBHOOK_KEYS:
		"like GEOSWAP_SEAL_KEYS, for the secrets of webhooks, which the API seals and the worker opens",
	GEOSWAP_API_KEY_PEPPER: "at least 32 random characters",
	GEOSWAP_RELAYER_KEYS: "chainId:0xprivatekey, comma-separated",
	GEOSWAP_TREASURER_KEYS:
		"chainId:0xprivatekey, comma-separated, one key for each EVM chain, if treasury.mode is act",
	GEOSWAP_SOLANA_FEE_PAYER_KEYS:
		"the fee payers' keys, comma-separated, each the 64 bytes of a key pair in base58",
	GEOSWAP_SOLANA_OPERATOR_KEY: "the 64 bytes of the vault operator's key pair in base58",
	GEOSWAP_ATTESTER_KEY: "0xprivatekey",
	GEOSWAP_RECEIPT_KEY: "0xprivatekey, if the service signs receipts with a key in the environment",
	GEOSWAP_QUOTER_KEY: "the API key of the quoter for Solana, if it requires one",
	GEOSWAP_PYTH_KEY: "the API key of Pyth's web service, if it requires one",
	GEOSWAP_DENY_TOKEN: "the bearer token of the deny list's service, if it requires one",
} as const;

export type SecretName = keyof typeof variables;
export const secretNames = Object.keys(variables) as SecretName[];

/** Returns a secret. Throws if it is not set. */
export function readSecret(name: SecretName, environment: NodeJS.ProcessEnv = process.env): string {
	const value = readOptionalSecret(name, environment);
	if (value) return value;
	throw new ConfigError(
		name,
		`is not set in the environment. Set it to ${variables[name]}; or set ${name}_FILE to the path of a file with that value`,
	);
}

/** Returns a secret that not every process needs, or undefined if neither the variable nor its file is set. */
export function readOptionalSecret(
	name: SecretName,
	environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
	const value = environment[name] || undefined;
	const path = environment[`${name}_FILE`];
	if (!path) return value;
	// After a rotation one of the two would be stale, and it would be unclear which.
	if (value) throw new ConfigError(name, `is set, and so is ${name}_FILE. Remove one of them`);
	return readSecretFile(name, path);
}

function readSecretFile(name: SecretName, path: string): string {
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError(
			`${name}_FILE`,
			`${path} cannot be read (${code}). Mount it, readable by this user`,
		);
	}
	// Editors and `echo` end a file with a newline, which is not part of any secret.
	const value = text.replace(/\r?\n$/, "");
	if (!value) throw new ConfigError(`${name}_FILE`, `${path} is empty. Write ${variables[name]} into it`);
	return value;
}

/**
 * Returns the pepper that API keys are hashed with. A short pepper could be brute-forced, which would allow creating
 * any key.
 */
export function readPepper(environment: NodeJS.ProcessEnv = process.env): string {
	const pepper = readSecret("GEOSWAP_API_KEY_PEPPER", environment);
	if (pepper.length < 32) throw new ConfigError("GEOSWAP_API_KEY_PEPPER", "has fewer than 32 characters");
	return pepper;
}

export function readSealKeys(options: { openMs?: Milliseconds; nowMs?: () => Milliseconds } = {}): SealKeys {
	const text = readSecret("GEOSWAP_SEAL_KEYS");
	try {
		return parseSealKeys(text, options);
	} catch (error) {
		throw new ConfigError("GEOSWAP_SEAL_KEYS", (error as Error).message);
	}
}

/** Returns the keys that seal the webhooks' secrets, or undefined if the service has no webhooks. */
export function readWebhookKeys({ nowMs }: { nowMs: () => Milliseconds }): SealKeys | undefined {
	const text = readOptionalSecret("GEOSWAP_WEBHOOK_KEYS");
	if (text === undefined) return undefined;
	try {
		return parseSealKeys(text, { nowMs });
	} catch (error) {
		throw new ConfigError("GEOSWAP_WEBHOOK_KEYS", (error as Error).message);
	}
}

export function parsePrivateKey(
	name: "DEPLOYER_PRIVATE_KEY" | "GEOSWAP_CANARY_PRIVATE_KEY",
	text: string,
): Hex {
	if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
		throw new ConfigError(name, "is not a private key of 32 bytes in hex");
	}
	return text as Hex;
}
