import { CompactEncrypt } from "jose";
import { maxTokenBytes, type SealKeys, type SealPurpose } from "./seal-keys.ts";
import { tokenToJson } from "./token-json.ts";

/** A string that only the same keys open, for the same purpose and account. Bigints in the payload stay bigints. */
export async function sealToken(
	[key]: SealKeys,
	{ purpose, accountId, payload }: { purpose: SealPurpose; accountId: string; payload: unknown },
): Promise<string> {
	const content = Buffer.from(tokenToJson({ purpose, accountId, payload }));
	const token = await new CompactEncrypt(content)
		.setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.kid })
		.encrypt(key.secret);
	if (token.length > maxTokenBytes)
		throw new RangeError(`a sealed token of ${token.length} bytes is too long`);
	return token;
}
