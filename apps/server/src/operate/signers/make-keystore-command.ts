import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { memoryDigestKey, memoryMessageKey } from "@geoswap/keys/backend/memory-key";
import { evmSignerOf } from "@geoswap/keys/evm-signer-of";
import { encryptKeystore } from "@geoswap/keys/keystore";
import { parseEvmKey, parseSolanaKey } from "@geoswap/keys/parse-keys";
import { readLine } from "@geoswap/keys/read-line";
import { solanaSignerOf } from "@geoswap/keys/solana-signer-of";
import * as tiny from "tiny-secp256k1";
import { ConfigError } from "../../config/config-error.ts";

type Curve = "secp256k1" | "ed25519";
const shortestPassword = 12;

/** Writes a key into an encrypted file and prints its address. */
export async function makeKeystoreCommand({
	out,
	passwordFile,
	curve,
	import: source,
	json = false,
}: {
	out: string;
	passwordFile: string;
	curve: Curve;
	import?: string;
	json?: boolean;
}): Promise<void> {
	const password = readLine(passwordFile);
	if (password.length < shortestPassword) {
		throw new ConfigError(passwordFile, `has a password of fewer than ${shortestPassword} characters`);
	}
	const secret = source === undefined ? newSecret(curve) : readSecretKey(source, curve);
	const address = addressOf(secret, curve);
	const random = (bytes: number) => new Uint8Array(randomBytes(bytes));
	const keystore = await encryptKeystore({
		secret,
		password,
		address: curve === "secp256k1" ? address.slice(2).toLowerCase() : address,
		id: randomUUID(),
		random,
	});
	try {
		writeFileSync(out, `${JSON.stringify(keystore, null, "\t")}\n`, { mode: 0o600, flag: "wx" });
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new ConfigError(
			out,
			code === "EEXIST" ? "exists already; choose another name" : `cannot be written (${code})`,
		);
	}
	console.log(json ? JSON.stringify({ address, curve, file: out }) : address);
}

function newSecret(curve: Curve): Uint8Array {
	const secret = new Uint8Array(randomBytes(32));
	// About 2^128 of the 2^256 numbers are not keys of secp256k1.
	return curve === "ed25519" || tiny.isPrivate(secret) ? secret : newSecret(curve);
}

function readSecretKey(source: string, curve: Curve): Uint8Array {
	const text = source === "-" ? readFileSync(0, "utf8").trim() : readLine(source);
	const field = source === "-" ? "standard input" : source;
	return curve === "secp256k1" ? parseEvmKey(field, text) : parseSolanaKey(field, text);
}

function addressOf(secret: Uint8Array, curve: Curve): string {
	const name = { reference: "keystore:new", backend: "keystore" } as const;
	return curve === "secp256k1"
		? evmSignerOf(memoryDigestKey(name, secret)).address
		: solanaSignerOf(memoryMessageKey(name, secret)).address;
}
