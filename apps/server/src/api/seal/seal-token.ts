import { createCipheriv, randomFillSync } from "node:crypto";
import { maxTokenBytes, type SealKeys, type SealPurpose, sealingKey } from "../../config/seal-keys.ts";
import { tokenToJson } from "./token-json.ts";

const ivBytes = 12;
/**
 * Random bytes for many IVs, because requesting one at a time from the system takes a tenth of a seal. Each IV is
 * used once.
 */
const ivs = Buffer.alloc(256 * ivBytes);
let nextIv = ivs.length;

/**
 * Returns a compact JWE (`dir`, A256GCM) that only the same keys open, for the same purpose and account. Bigints in the
 * payload stay bigints.
 */
export function sealToken(
	keys: SealKeys,
	{ purpose, accountId, payload }: { purpose: SealPurpose; accountId: string; payload: unknown },
): string {
	const { header, secret } = sealingKey(keys);
	const iv = newIv();
	const cipher = createCipheriv("aes-256-gcm", secret, iv).setAAD(Buffer.from(header, "latin1"));
	const content = tokenToJson({ purpose, accountId, payload, sealedAtMs: keys.nowMs() });
	const sealed = cipher.update(content, "utf8").toString("base64url");
	// A stream cipher holds no data back, so `final` only ends it.
	cipher.final();
	const tag = cipher.getAuthTag().toString("base64url");
	const token = `${header}..${iv.toString("base64url")}.${sealed}.${tag}`;
	if (token.length > maxTokenBytes)
		throw new RangeError(`a sealed token of ${token.length} bytes is too long`);
	return token;
}

function newIv(): Buffer {
	if (nextIv === ivs.length) {
		randomFillSync(ivs);
		nextIv = 0;
	}
	nextIv += ivBytes;
	return ivs.subarray(nextIv - ivBytes, nextIv);
}
