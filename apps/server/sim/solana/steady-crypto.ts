import {
	createHash,
	createPrivateKey,
	createPublicKey,
	KeyObject,
	sign as signNow,
	verify as verifyNow,
	type webcrypto,
} from "node:crypto";
import { generateKeyPair } from "@solana/kit";

type Subtle = webcrypto.SubtleCrypto;
type Key = webcrypto.CryptoKey;

/**
 * Makes WebCrypto deterministic, which otherwise hashes and signs on other threads whose answers come at any time. From
 * now on the calls of Solana's client are computed immediately and answered in a microtask. Import and export of keys
 * always are. New keys follow from the random bytes. All other calls go the usual way. Returns a function that undoes
 * it.
 */
export async function steadyCrypto({
	randomBytes,
}: {
	randomBytes: (length: number) => Uint8Array;
}): Promise<() => void> {
	// Before its first key the client tests for support, once in a process. That test must take no random bytes.
	await generateKeyPair();
	const subtle = crypto.subtle as unknown as Subtle;
	const usual = Object.getPrototypeOf(subtle) as Subtle;

	const digest: Subtle["digest"] = async (algorithm, data) => {
		const hash = hashes[nameOf(algorithm)];
		if (!hash) return usual.digest.call(subtle, algorithm, data);
		return toArrayBuffer(createHash(hash).update(toBytes(data)).digest());
	};
	const sign: Subtle["sign"] = async (algorithm, key, data) => {
		// A key that does not fit is refused the usual way.
		if (!isEd25519(algorithm, key) || !key.usages.includes("sign")) {
			return usual.sign.call(subtle, algorithm, key, data);
		}
		return toArrayBuffer(signNow(null, toBytes(data), keyObjectOf(key)));
	};
	const verify: Subtle["verify"] = async (algorithm, key, signature, data) => {
		if (!isEd25519(algorithm, key) || !key.usages.includes("verify")) {
			return usual.verify.call(subtle, algorithm, key, signature, data);
		}
		return verifyNow(null, toBytes(data), keyObjectOf(key), toBytes(signature));
	};
	const importKey = async (...asked: Parameters<Subtle["importKey"]>) => {
		const [format, data, algorithm] = asked;
		const key = await usual.importKey.call(subtle, ...asked);
		if (format === "pkcs8" && isEd25519(algorithm, key)) {
			keyObjects.set(key, privateKeyOf(toBytes(data as webcrypto.BufferSource)));
		}
		return key;
	};
	const generateKey = async (...asked: Parameters<Subtle["generateKey"]>) => {
		const [algorithm, extractable, usages] = asked;
		if (nameOf(algorithm) !== ed25519.name) return usual.generateKey.call(subtle, ...asked);
		const secret = privateKeyOf(Buffer.concat([pkcs8Prefix, randomBytes(32)]));
		const may = (usage: webcrypto.KeyUsage) => [...usages].filter((one) => one === usage);
		const privateKey = secret.toCryptoKey(ed25519, extractable, may("sign"));
		keyObjects.set(privateKey, secret);
		return { privateKey, publicKey: createPublicKey(secret).toCryptoKey(ed25519, true, may("verify")) };
	};

	const steady = { digest, sign, verify, importKey, generateKey };
	for (const [name, value] of Object.entries(steady)) {
		Object.defineProperty(subtle, name, { value, configurable: true, writable: true });
	}
	return () => {
		for (const name of Object.keys(steady)) Reflect.deleteProperty(subtle, name);
	};
}

const ed25519 = { name: "Ed25519" };
const hashes: Record<string, string> = { "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512" };
/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 key. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

function nameOf(algorithm: string | { name: string }): string {
	return typeof algorithm === "string" ? algorithm : algorithm.name;
}

function isEd25519(algorithm: string | { name: string }, key: Key): boolean {
	return nameOf(algorithm) === ed25519.name && key.algorithm.name === ed25519.name;
}

function privateKeyOf(pkcs8: Uint8Array): KeyObject {
	return createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" });
}

/**
 * Key objects. Those of private keys are stored when they are made, because Node discourages extracting them from keys
 * that are not extractable.
 */
const keyObjects = new WeakMap<Key, KeyObject>();

function keyObjectOf(key: Key): KeyObject {
	const known = keyObjects.get(key) ?? KeyObject.from(key);
	keyObjects.set(key, known);
	return known;
}

function toBytes(data: webcrypto.BufferSource): Uint8Array {
	return ArrayBuffer.isView(data)
		? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
		: new Uint8Array(data);
}

/** Returns a buffer with nothing else in it, because small buffers of Node share one. */
function toArrayBuffer(buffer: Buffer): ArrayBuffer {
	return Uint8Array.from(buffer).buffer;
}
