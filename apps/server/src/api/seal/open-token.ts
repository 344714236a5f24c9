import { createDecipheriv } from "node:crypto";
import { type Milliseconds, SwapError } from "@geoswap/protocol";
import { maxTokenBytes, type SealKey, type SealKeys, type SealPurpose } from "../../config/seal-keys.ts";
import { tokenFromJson } from "./seal-token.ts";

/** Milliseconds after sealing from which no quote or op can be used for the first time. */
const maxUseMs = 300_000;

/**
 * Returns the sealed payload. Only the exact bytes issued open, and only for their endpoint and account. Anything
 * else is INVALID_TOKEN. The type parameter is not validated, because a token that opens was sealed by this service.
 */
export async function openToken<Payload>(
	keys: SealKeys,
	token: string,
	{ purpose, accountId }: { purpose: SealPurpose; accountId: string },
): Promise<Payload> {
	return (await openTokenWithAge<Payload>(keys, token, { purpose, accountId })).payload;
}

/** Like `openToken`, and returns whether the token is too old for a first use, regardless of its content. */
export async function openTokenWithAge<Payload>(
	keys: SealKeys,
	token: string,
	{ purpose, accountId }: { purpose: SealPurpose; accountId: string },
): Promise<{ payload: Payload; isOld: boolean }> {
	const content = decrypt(keys, token);
	if (content.purpose !== purpose) throw wrongEndpoint(endpointOf[content.purpose]);
	if (content.accountId !== accountId) throw new SwapError("INVALID_TOKEN", { reason: "other_account" });
	return { payload: content.payload as Payload, isOld: keys.nowMs() - content.sealedAtMs > maxUseMs };
}

type Content = { purpose: SealPurpose; accountId: string; payload: unknown; sealedAtMs: Milliseconds };

/** The endpoint that takes a token of each purpose. */
const endpointOf: Record<SealPurpose, string> = {
	"quote:evm": "POST /swap/build-geo-op",
	"quote:solana": "POST /swap/build-solana-tx",
	"op:evm": "POST /swap/submit",
	"op:solana": "POST /swap/submit-solana",
	"cursor:swaps": "GET /swaps",
};

/**
 * Returns an error for a valid token at the wrong endpoint. It does not advise a new quote, which would be sent to
 * the same wrong place.
 */
function wrongEndpoint(endpoint: string): SwapError<"INVALID_TOKEN"> {
	return new SwapError(
		"INVALID_TOKEN",
		{ reason: "wrong_endpoint", endpoint },
		{ message: `This token is for ${endpoint}. Send it there unchanged.`, next: "fix_request" },
	);
}

function decrypt(keys: SealKeys, token: string): Content {
	if (!isCanonical(token)) throw unreadable();
	const [header, noKey, iv = "", sealed = "", tag = "", ...more] = token.split(".");
	// The header is compared as a whole, so the sender can choose nothing in it.
	const key = keys.keys.find((candidate) => candidate.header === header);
	if (!key || noKey !== "" || more.length > 0 || keys.nowMs() > key.retiredAtMs + keys.openMs)
		throw unreadable();
	const plaintext = decipher(key, { iv, sealed, tag });
	if (plaintext === undefined) throw unreadable();
	// A token of the previous version has no time. It counts as sealed now, or at the last moment before the key was
	// retired.
	const unless = Math.min(keys.nowMs(), key.retiredAtMs - 1);
	const opened = tokenFromJson(plaintext) as Omit<Content, "sealedAtMs"> & Partial<Content>;
	const content: Content = { ...opened, sealedAtMs: opened.sealedAtMs ?? unless };
	if (!mayHaveSealed(key, content, keys.nowMs())) throw unreadable();
	return content;
}

function unreadable(): SwapError<"INVALID_TOKEN"> {
	return new SwapError("INVALID_TOKEN", { reason: "unreadable" });
}

/** Returns the text that was sealed with this key, or undefined if it was not. */
function decipher(
	{ header, secret }: SealKey,
	{ iv, sealed, tag }: { iv: string; sealed: string; tag: string },
): string | undefined {
	const [ivBytes, tagBytes] = [Buffer.from(iv, "base64url"), Buffer.from(tag, "base64url")];
	// A shorter tag would be checked only up to its length.
	if (ivBytes.length !== 12 || tagBytes.length !== 16) return undefined;
	const decipher = createDecipheriv("aes-256-gcm", secret, ivBytes, { authTagLength: 16 })
		.setAAD(Buffer.from(header))
		.setAuthTag(tagBytes);
	const content = decipher.update(sealed, "base64url", "utf8");
	try {
		return content + decipher.final("utf8");
	} catch {
		return undefined;
	}
}

/**
 * Returns true if an honest process may have sealed the token with this key. Once the key is retired, no honest
 * process uses it, and a thief of the key can only backdate tokens, which are then too old for a first use. A quote
 * has no other use.
 */
function mayHaveSealed(
	{ retiredAtMs }: SealKey,
	{ purpose, sealedAtMs }: Content,
	nowMs: Milliseconds,
): boolean {
	if (!(sealedAtMs < retiredAtMs)) return false;
	return !purpose.startsWith("quote:") || nowMs <= retiredAtMs + maxUseMs;
}

/**
 * Returns true for the canonical spelling. Decoders of base64url accept stray bits in a last character, padding and
 * whitespace, which would allow several strings for one token.
 */
function isCanonical(token: string): boolean {
	return (
		token.length <= maxTokenBytes &&
		/^[A-Za-z0-9_.-]+$/.test(token) &&
		token.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part)
	);
}
