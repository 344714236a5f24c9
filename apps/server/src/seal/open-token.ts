import { SwapError } from "@geoswap/protocol";
import { compactDecrypt } from "jose";
import { maxTokenBytes, type SealKeys, type SealPurpose } from "./seal-keys.ts";
import { tokenFromJson } from "./token-json.ts";

/**
 * What was sealed. Only the exact bytes issued open, and only for their endpoint and account; anything else is
 * INVALID_TOKEN. The type is the caller's word: what opens was sealed by us.
 */
export async function openToken<Payload>(
	keys: SealKeys,
	token: string,
	{ purpose, accountId }: { purpose: SealPurpose; accountId: string },
): Promise<Payload> {
	const content = await decrypt(keys, token);
	if (content.purpose !== purpose) throw new SwapError("INVALID_TOKEN", { reason: "wrong_endpoint" });
	if (content.accountId !== accountId) throw new SwapError("INVALID_TOKEN", { reason: "other_account" });
	return content.payload as Payload;
}

async function decrypt(
	keys: SealKeys,
	token: string,
): Promise<{ purpose: SealPurpose; accountId: string; payload: unknown }> {
	if (!isCanonical(token)) throw new SwapError("INVALID_TOKEN", { reason: "unreadable" });
	let plaintext: Uint8Array;
	try {
		const result = await compactDecrypt(
			token,
			(header) => {
				const key = keys.find((candidate) => candidate.kid === header.kid);
				if (!key) throw new RangeError("no such key");
				return key.secret;
			},
			{ keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] },
		);
		plaintext = result.plaintext;
	} catch (cause) {
		throw new SwapError("INVALID_TOKEN", { reason: "unreadable" }, { cause });
	}
	return tokenFromJson(Buffer.from(plaintext).toString()) as Awaited<ReturnType<typeof decrypt>>;
}

/** Decoders of base64url forgive stray bits in a last character, padding and whitespace: two strings for one token. */
function isCanonical(token: string): boolean {
	return (
		token.length <= maxTokenBytes &&
		/^[A-Za-z0-9_.-]+$/.test(token) &&
		token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part)
	);
}
