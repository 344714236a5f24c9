/** Which endpoint family a token is for, or which list a cursor. */
export type SealPurpose = "quote:evm" | "quote:solana" | "op:evm" | "op:solana" | "cursor:swaps";

type SealKey = { kid: string; secret: Uint8Array };
/** The first seals, all open: a new key is put in front, an old one goes once its tokens have expired. */
export type SealKeys = readonly [SealKey, ...SealKey[]];

/** Longer tokens are neither sealed nor opened. */
export const maxTokenBytes = 8 * 1024;

/** Reads `kid:secret,kid2:secret2`, each secret 32 bytes of base64url. */
export function parseSealKeys(text: string): SealKeys {
	const [first, ...others] = text.split(",").map((entry): SealKey => {
		const [kid = "", encoded = "", ...rest] = entry.trim().split(":");
		const secret = Buffer.from(encoded, "base64url");
		// Decoding passes over whatever is no base64url: a key with a typing error would be another key.
		const isExact = secret.length === 32 && secret.toString("base64url") === encoded;
		// The message must not repeat what it refuses: that may be most of a secret.
		if (!/^[A-Za-z0-9_-]{1,32}$/.test(kid) || rest.length > 0 || !isExact) {
			throw new RangeError("a seal key is an id, a colon, and 32 bytes of base64url");
		}
		return { kid, secret };
	});
	if (!first) throw new RangeError("there is no seal key");
	const keys: SealKeys = [first, ...others];
	if (new Set(keys.map((key) => key.kid)).size !== keys.length) {
		throw new RangeError("two seal keys have one id");
	}
	return keys;
}
