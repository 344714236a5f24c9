import { type KmsKey, signDigest, signMessage, spkiOf } from "./kms-keys.ts";

export type KmsAnswer = { status: number; body: object };
type Asked = { KeyId?: string; Message?: string; MessageType?: string; SigningAlgorithm?: string };

const specs = {
	secp256k1: { spec: "ECC_SECG_P256K1", algorithm: "ECDSA_SHA_256" },
	ed25519: { spec: "ECC_NIST_EDWARDS25519", algorithm: "ED25519_SHA_512" },
} as const;

export const awsArn = (name: string) => `arn:aws:kms:eu-west-1:111122223333:key/${name}`;

/** Answers a call in the format of AWS KMS: JSON, with the operation in the header `x-amz-target`. */
export async function answerAws(
	keys: readonly KmsKey[],
	{ target, authorization, body }: { target: string; authorization: string; body: string },
): Promise<KmsAnswer> {
	if (!/^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/eu-west-1\/kms\/aws4_request,/.test(authorization)) {
		return problem("MissingAuthenticationTokenException", "the request is not signed");
	}
	const asked = JSON.parse(body) as Asked;
	const key = keys.find(({ name }) => [name, awsArn(name)].includes(asked.KeyId ?? ""));
	if (!key) return problem("NotFoundException", `Key '${asked.KeyId}' does not exist`);
	const { spec, algorithm } = specs[key.curve];
	const KeyId = awsArn(key.name);
	switch (target) {
		case "TrentService.GetPublicKey":
			return ok({
				KeyId,
				PublicKey: spkiOf(key).toString("base64"),
				KeySpec: spec,
				KeyUsage: "SIGN_VERIFY",
				SigningAlgorithms: [algorithm],
			});
		case "TrentService.Sign": {
			if (asked.SigningAlgorithm !== algorithm) {
				return problem(
					"InvalidKeyUsageException",
					`${asked.SigningAlgorithm} is not an algorithm of ${spec}`,
				);
			}
			const message = Buffer.from(asked.Message ?? "", "base64");
			const isDigest = asked.MessageType === "DIGEST";
			if (
				key.curve === "secp256k1" ? !isDigest || message.length !== 32 : isDigest || message.length > 4096
			) {
				return problem("ValidationException", "the message does not fit its type");
			}
			const signature =
				key.curve === "secp256k1" ? await signDigest(key, message) : signMessage(key, message);
			return ok({ KeyId, Signature: signature.toString("base64"), SigningAlgorithm: algorithm });
		}
		default:
			return problem("UnknownOperationException", target);
	}
}

function ok(body: object): KmsAnswer {
	return { status: 200, body };
}

function problem(type: string, message: string): KmsAnswer {
	return { status: 400, body: { __type: type, message } };
}
