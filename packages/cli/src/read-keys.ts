import type { KeyPairSigner } from "@solana/kit";
import type { PrivateKeyAccount } from "viem";
import { CliError } from "./cli-error.ts";
import type { Keychain, KeyName } from "./keychain.ts";

export const keyVariables = {
	"api-key": "GEOSWAP_API_KEY",
	"evm-key": "GEOSWAP_EVM_KEY",
	"solana-key": "GEOSWAP_SOLANA_KEY",
} as const satisfies Record<KeyName, string>;

type Sources = { env: Record<string, string | undefined>; keychain: Keychain };

/** Returns the environment's key if it has one, else the keychain's. */
export async function findKey(name: KeyName, { env, keychain }: Sources): Promise<string | undefined> {
	return env[keyVariables[name]]?.trim() || (await keychain.get(name))?.trim() || undefined;
}

export async function readApiKey(sources: Sources): Promise<string> {
	return parseApiKey((await findKey("api-key", sources)) ?? missing("api-key", "API key"));
}

export function parseApiKey(key: string): string {
	// If a header cannot carry the key, the library's error would show it.
	if (!/^[\x21-\x7e]+$/.test(key)) throw invalid("api-key", "an API key of the service");
	return key;
}

export async function findEvmAccount(sources: Sources): Promise<PrivateKeyAccount | undefined> {
	const text = await findKey("evm-key", sources);
	return text === undefined ? undefined : parseEvmKey(text);
}

/** Returns the key as `solanaSigner()` takes it: the 64 bytes of a key pair, or the 32 of its private key. */
export async function findSolanaKey(sources: Sources): Promise<Uint8Array | undefined> {
	const text = await findKey("solana-key", sources);
	return text === undefined ? undefined : parseSolanaKey(text);
}

export async function readEvmAccount(sources: Sources): Promise<PrivateKeyAccount> {
	return (await findEvmAccount(sources)) ?? missing("evm-key", "key of an EVM wallet");
}

export async function readSolanaKey(sources: Sources): Promise<Uint8Array> {
	return (await findSolanaKey(sources)) ?? missing("solana-key", "key of a Solana wallet");
}

export async function parseEvmKey(text: string): Promise<PrivateKeyAccount> {
	const { privateKeyToAccount } = await import("viem/accounts");
	const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
	try {
		if (hex !== undefined) return privateKeyToAccount(`0x${hex}`);
	} catch {
		// The key is zero, or past the curve's order. The library's message may have the key in it.
	}
	throw invalid("evm-key", "32 bytes of hex");
}

export async function parseSolanaKey(text: string): Promise<Uint8Array> {
	try {
		const bytes = await bytesOf(text);
		// This checks that both halves belong together, so that a wrong key fails here and not at the signature.
		await openSolanaKey(bytes);
		return bytes;
	} catch {
		throw invalid(
			"solana-key",
			"a key pair of 64 bytes, or a private key of 32, in base58 or as a JSON array",
		);
	}
}

/** Returns the signer of a key pair of 64 bytes, or of a private key of 32. */
export async function openSolanaKey(bytes: Uint8Array): Promise<KeyPairSigner> {
	const { createKeyPairSignerFromBytes, createKeyPairSignerFromPrivateKeyBytes } = await import(
		"@solana/kit"
	);
	return (bytes.length === 32 ? createKeyPairSignerFromPrivateKeyBytes : createKeyPairSignerFromBytes)(bytes);
}

async function bytesOf(text: string): Promise<Uint8Array> {
	if (!text.startsWith("[")) {
		const { getBase58Encoder } = await import("@solana/kit");
		return new Uint8Array(getBase58Encoder().encode(text));
	}
	const numbers: unknown = JSON.parse(text);
	const isByte = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
	if (!Array.isArray(numbers) || !numbers.every(isByte)) throw new RangeError("not bytes");
	return Uint8Array.from(numbers);
}

function missing(name: KeyName, what: string): never {
	throw new CliError(`There is no ${what}. Set ${keyVariables[name]}, or store it with geoswap init.`, {
		code: "NO_KEY",
		next: "check_key",
		section: "keys",
	});
}

function invalid(name: KeyName, form: string): CliError {
	return new CliError(`The ${name} is not ${form}. Set ${keyVariables[name]} again, or run geoswap init.`, {
		code: "INVALID_KEY",
		next: "check_key",
		section: "keys",
	});
}
