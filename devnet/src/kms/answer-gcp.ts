import type { KmsAnswer } from "./answer-aws.ts";
import { type KmsKey, signDigest, signMessage, spkiOf } from "./kms-keys.ts";

const ring = "projects/devnet/locations/global/keyRings/geoswap/cryptoKeys";
export const gcpVersion = (name: string) => `${ring}/${name}/cryptoKeyVersions/1`;

const algorithms = { secp256k1: "EC_SIGN_SECP256K1_SHA256", ed25519: "EC_SIGN_ED25519" } as const;
const protectionLevel = "HSM";

type Asked = { digest?: { sha256?: string }; digestCrc32c?: string; data?: string; dataCrc32c?: string };

/** Answers a call in the format of Google Cloud KMS: REST with JSON, and checksums of what was sent and signed. */
export async function answerGcp(
	keys: readonly KmsKey[],
	{ path, body }: { path: string; body: string },
): Promise<KmsAnswer> {
	const [, version = "", method] = /^\/v1\/(.+?)(\/publicKey|:asymmetricSign)$/.exec(path) ?? [];
	const key = keys.find(({ name }) => gcpVersion(name) === version);
	if (!key) return problem(404, "NOT_FOUND", `CryptoKeyVersion ${version} not found.`);
	if (method === "/publicKey") {
		const lines =
			spkiOf(key)
				.toString("base64")
				.match(/.{1,64}/g) ?? [];
		const pem = `-----BEGIN PUBLIC KEY-----\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`;
		const pemCrc32c = String(checksum(Buffer.from(pem)));
		return {
			status: 200,
			body: { pem, algorithm: algorithms[key.curve], pemCrc32c, name: version, protectionLevel },
		};
	}
	const asked = JSON.parse(body) as Asked;
	const isDigest = key.curve === "secp256k1";
	const text = isDigest ? asked.digest?.sha256 : asked.data;
	if (text === undefined) return problem(400, "INVALID_ARGUMENT", "the key signs the other kind of input");
	const bytes = Buffer.from(text, "base64");
	if (Number(isDigest ? asked.digestCrc32c : asked.dataCrc32c) !== checksum(bytes)) {
		return problem(400, "INVALID_ARGUMENT", "The checksum of the input does not match.");
	}
	if (isDigest && bytes.length !== 32) return problem(400, "INVALID_ARGUMENT", "the digest has no 32 bytes");
	const signature = isDigest ? await signDigest(key, bytes) : signMessage(key, bytes);
	return {
		status: 200,
		body: {
			signature: signature.toString("base64"),
			signatureCrc32c: String(checksum(signature)),
			...(isDigest ? { verifiedDigestCrc32c: true } : { verifiedDataCrc32c: true }),
			name: version,
			protectionLevel,
		},
	};
}

function problem(code: number, status: string, message: string): KmsAnswer {
	return { status: code, body: { error: { code, message, status } } };
}

/**
 * CRC-32C, bit by bit. It is written apart from the service's implementation, so that tests find a mistake in either.
 */
function checksum(bytes: Uint8Array): number {
	let rest = ~0;
	for (const byte of bytes) {
		rest ^= byte;
		for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (0x82f63b78 & -(rest & 1));
	}
	return ~rest >>> 0;
}
