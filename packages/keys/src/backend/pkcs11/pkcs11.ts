import { bytesToHex } from "viem";
import type { KeySettings } from "../../config/key-settings.ts";
import { evmSignerOf } from "../../evm-signer-of.ts";
import { solanaSignerOf } from "../../solana-signer-of.ts";
import type { Backend, KeyToOpen, Surroundings } from "../backend.ts";
import { parsePkcs11Uri } from "./parse-pkcs11-uri.ts";
import type { Curve } from "./pkcs11-request.ts";
import { openPkcs11Token, type Pkcs11Token } from "./pkcs11-token.ts";

/** Timeout for reading a device's public key when a process starts. */
const openTimeoutMs = 30_000;

/** Opens keys in devices that have a PKCS #11 library, such as hardware security modules and SoftHSM. */
export function openPkcs11(settings: KeySettings["pkcs11"], surroundings: Surroundings): Backend {
	const tokens = new Map<string, Pkcs11Token>();

	async function open({ name, rest }: KeyToOpen, curve: Curve) {
		const { module, token, pinFile, label, id } = parsePkcs11Uri(rest, settings);
		const path = { module, token, pinFile };
		const tokenKey = JSON.stringify(path);
		const opened = tokens.get(tokenKey) ?? openPkcs11Token(path, surroundings);
		tokens.set(tokenKey, opened);
		const key = { label, objectId: id, curve };
		const signal = AbortSignal.timeout(openTimeoutMs);
		const publicKey = await opened.ask(name, key, { signal });
		return {
			publicKey,
			sign: (bytes: Uint8Array, options: { signal?: AbortSignal | undefined }) =>
				opened.ask(name, { ...key, bytes }, options),
		};
	}

	return {
		async openEvm(key) {
			const { publicKey, sign } = await open(key, "secp256k1");
			return evmSignerOf({
				name: key.name,
				publicKey: bytesToHex(publicKey),
				signDigest: async (digest, options) => halves(await sign(digest, options)),
			});
		},
		async openSolana(key) {
			const { publicKey, sign } = await open(key, "ed25519");
			return solanaSignerOf({ name: key.name, publicKey, signMessage: sign });
		},
		async close() {
			for (const token of tokens.values()) token.close();
		},
	};
}

/** Devices return the two numbers one after the other, with the same length. */
function halves(bytes: Uint8Array): { r: bigint; s: bigint } {
	const digits = Buffer.from(bytes).toString("hex");
	const middle = digits.length / 2;
	return { r: BigInt(`0x0${digits.slice(0, middle)}`), s: BigInt(`0x0${digits.slice(middle)}`) };
}
