import { GoogleAuth } from "google-auth-library";
import * as z from "zod";
import { ConfigError } from "../config/config-error.ts";
import type { KeySettings } from "../config/key-settings.ts";
import { crc32c } from "../crc32c.ts";
import { evmSignerOf } from "../evm-signer-of.ts";
import { parseDerSignature } from "../parse-der-signature.ts";
import { ed25519OfSpki, pointOfSpki } from "../point-of-spki.ts";
import type { SignOptions } from "../signer.ts";
import { type KeyName, SignerError } from "../signer-error.ts";
import { solanaSignerOf } from "../solana-signer-of.ts";
import type { Backend } from "./backend.ts";

const publicKeySchema = z.object({ pem: z.string(), pemCrc32c: z.string(), name: z.string() });
const signedSchema = z.object({
	name: z.string(),
	signature: z.string(),
	signatureCrc32c: z.string(),
	verifiedDigestCrc32c: z.boolean().default(false),
	verifiedDataCrc32c: z.boolean().default(false),
});

const defaultEndpoint = "https://cloudkms.googleapis.com";
/** Timeout for reading a public key when a process starts. A signature has the time limit of its caller. */
const openTimeoutMs = 30_000;

/**
 * Opens keys in Google Cloud KMS, through its HTTP interface. It needs two calls, for which Google's own client would
 * bring gRPC. The credentials are Google's application default credentials.
 */
export function openGcpKms(settings: KeySettings["gcpkms"] = {}): Backend {
	const auth = new GoogleAuth({
		scopes: "https://www.googleapis.com/auth/cloudkms",
		// A key's name contains its project. Without this the library searches for one, for up to 15 s.
		projectId: "named-by-each-key",
	});
	const base = new URL(settings.endpoint ?? defaultEndpoint).origin;

	async function call(name: KeyName, path: string, init: RequestInit): Promise<unknown> {
		let status: number;
		let text: string;
		try {
			const token = await auth.getAccessToken();
			const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
			const response = await fetch(`${base}/v1/${path}`, { ...init, headers });
			status = response.status;
			text = await response.text();
		} catch (cause) {
			const { message } = cause as Error;
			throw new SignerError(name, `Google Cloud KMS cannot be reached: ${message}`, {
				cause,
				isRetryable: true,
			});
		}
		if (status === 200) return JSON.parse(text);
		// 400, 403 and 404 are about the key or the credentials, so an operator must act.
		const isRetryable = ![400, 403, 404].includes(status);
		throw new SignerError(name, `Google Cloud KMS answered ${status}: ${reasonOf(text)}`, { isRetryable });
	}

	async function readPem(name: KeyName, version: string): Promise<string> {
		const signal = AbortSignal.timeout(openTimeoutMs);
		const answer = publicKeySchema.parse(await call(name, `${version}/publicKey`, { signal }));
		if (answer.name !== version || crc32c(Buffer.from(answer.pem)) !== Number(answer.pemCrc32c)) {
			throw damaged(name);
		}
		return answer.pem;
	}

	async function sign(
		name: KeyName,
		{ version, bytes, as }: { version: string; bytes: Uint8Array; as: "digest" | "data" },
		{ signal }: SignOptions,
	): Promise<Uint8Array> {
		const encoded = Buffer.from(bytes).toString("base64");
		const checksum = String(crc32c(bytes));
		const body =
			as === "digest"
				? { digest: { sha256: encoded }, digestCrc32c: checksum }
				: { data: encoded, dataCrc32c: checksum };
		const answer = signedSchema.parse(
			await call(name, `${version}:asymmetricSign`, {
				method: "POST",
				body: JSON.stringify(body),
				...(signal && { signal }),
			}),
		);
		const isVerified = as === "digest" ? answer.verifiedDigestCrc32c : answer.verifiedDataCrc32c;
		const signature = new Uint8Array(Buffer.from(answer.signature, "base64"));
		if (answer.name !== version || !isVerified || crc32c(signature) !== Number(answer.signatureCrc32c)) {
			throw damaged(name);
		}
		return signature;
	}

	return {
		async openEvm({ name, rest: version }) {
			const publicKey = pointOfSpki(await readPem(name, version));
			if (!publicKey) {
				throw new ConfigError(name.reference, "must have the algorithm EC_SIGN_SECP256K1_SHA256");
			}
			return evmSignerOf({
				name,
				publicKey,
				// The service signs any 32 bytes that are declared as a SHA-256 digest. It hashes nothing itself.
				signDigest: async (bytes, options) =>
					parseDerSignature(await sign(name, { version, bytes, as: "digest" }, options)),
			});
		},
		async openSolana({ name, rest: version }) {
			const publicKey = ed25519OfSpki(await readPem(name, version));
			if (!publicKey) throw new ConfigError(name.reference, "must have the algorithm EC_SIGN_ED25519");
			return solanaSignerOf({
				name,
				publicKey,
				signMessage: (bytes, options) => sign(name, { version, bytes, as: "data" }, options),
			});
		},
	};
}

function damaged(name: KeyName): SignerError {
	return new SignerError(name, "Google Cloud KMS: a checksum or a name differs", { isRetryable: true });
}

const problemSchema = z.object({ error: z.object({ status: z.string(), message: z.string() }) });

function reasonOf(text: string): string {
	try {
		const { status, message } = problemSchema.parse(JSON.parse(text)).error;
		return `${status}: ${message}`;
	} catch {
		return "no reason";
	}
}
