import { GetPublicKeyCommand, KMSClient, SignCommand, type SignCommandInput } from "@aws-sdk/client-kms";
import { ConfigError } from "../config/config-error.ts";
import type { KeySettings } from "../config/key-settings.ts";
import { evmSignerOf } from "../evm-signer-of.ts";
import { parseDerSignature } from "../parse-der-signature.ts";
import { ed25519OfSpki, pointOfSpki } from "../point-of-spki.ts";
import { type KeyName, SignerError } from "../signer-error.ts";
import { solanaSignerOf } from "../solana-signer-of.ts";
import type { Backend } from "./backend.ts";

/** Errors that the same call would meet again until an operator changes the key, its policy or the credentials. */
const lasting = new Set([
	"AccessDeniedException",
	"DisabledException",
	"InvalidKeyUsageException",
	"KMSInvalidStateException",
	"NotFoundException",
	"UnrecognizedClientException",
	"InvalidArnException",
]);

/** Opens keys in AWS KMS. The credentials are found by AWS's default provider chain. */
export function openAwsKms(settings: KeySettings["awskms"] = {}): Backend {
	const clients = new Map<string | undefined, KMSClient>();
	const clientOf = (keyId: string): KMSClient => {
		const region = /^arn:[^:]*:kms:([^:]+):/.exec(keyId)?.[1] ?? settings.region;
		const client =
			clients.get(region) ??
			new KMSClient({
				...(region !== undefined && { region }),
				...(settings.endpoint !== undefined && { endpoint: settings.endpoint }),
				// A lane retries by itself, and later.
				maxAttempts: 2,
			});
		clients.set(region, client);
		return client;
	};
	const readKey = async (name: KeyName, keyId: string): Promise<Uint8Array> => {
		const { PublicKey } = await asking(name, () =>
			clientOf(keyId).send(new GetPublicKeyCommand({ KeyId: keyId })),
		);
		if (!PublicKey) throw new ConfigError(name.reference, "has no public key");
		return PublicKey;
	};
	const sign = async (name: KeyName, input: SignCommandInput, signal: AbortSignal | undefined) => {
		const client = clientOf(input.KeyId ?? "");
		const { Signature } = await asking(name, () =>
			client.send(new SignCommand(input), signal ? { abortSignal: signal } : {}),
		);
		if (!Signature) throw new SignerError(name, "it returned no signature", { isRetryable: true });
		return Signature;
	};
	return {
		async openEvm({ name, rest: KeyId }) {
			const publicKey = pointOfSpki(await readKey(name, KeyId));
			if (!publicKey) throw new ConfigError(name.reference, "must be a key of the kind ECC_SECG_P256K1");
			return evmSignerOf({
				name,
				publicKey,
				signDigest: async (Message, { signal }) => {
					const input = { KeyId, Message, MessageType: "DIGEST", SigningAlgorithm: "ECDSA_SHA_256" } as const;
					return parseDerSignature(await sign(name, input, signal));
				},
			});
		},
		async openSolana({ name, rest: KeyId }) {
			const publicKey = ed25519OfSpki(await readKey(name, KeyId));
			if (!publicKey)
				throw new ConfigError(name.reference, "must be a key of the kind ECC_NIST_EDWARDS25519");
			return solanaSignerOf({
				name,
				publicKey,
				signMessage: (Message, { signal }) =>
					sign(name, { KeyId, Message, MessageType: "RAW", SigningAlgorithm: "ED25519_SHA_512" }, signal),
			});
		},
		async close() {
			for (const client of clients.values()) client.destroy();
		},
	};
}

async function asking<T>(name: KeyName, ask: () => Promise<T>): Promise<T> {
	try {
		return await ask();
	} catch (cause) {
		const error = cause as Error;
		const isRetryable = !lasting.has(error.name);
		throw new SignerError(name, `AWS KMS: ${error.name}: ${error.message}`, { cause, isRetryable });
	}
}
