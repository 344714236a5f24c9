import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * `gsk_<id>_<secret>`, all of it base32. The secret ends in a tag of the rest under the pepper, so that a key we never
 * made is refused without asking the database.
 */
const pattern = /^gsk_([0-9a-z]{12})_([0-9a-z]{40})$/;
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const idLength = 12;
const randomLength = 32;
const tagLength = 8;

/** A new key. The text is shown once; only the id and the hash are kept. */
export function createApiKey({ pepper, random }: { pepper: string; random: (bytes: number) => Uint8Array }): {
	id: string;
	key: string;
	hash: Uint8Array;
} {
	const id = toBase32(random(idLength));
	const untagged = `gsk_${id}_${toBase32(random(randomLength))}`;
	const key = untagged + tagOf(untagged, pepper);
	return { id, key, hash: hashOf(key, pepper) };
}

/** The id in a key that we made, or undefined. Whether it is still valid only the database knows. */
export function readApiKeyId(key: string, { pepper }: { pepper: string }): string | undefined {
	const id = pattern.exec(key)?.[1];
	if (!id) return undefined;
	const tag = tagOf(key.slice(0, -tagLength), pepper);
	return timingSafeEqual(Buffer.from(tag), Buffer.from(key.slice(-tagLength))) ? id : undefined;
}

export function isApiKey(key: string, { hash, pepper }: { hash: Uint8Array; pepper: string }): boolean {
	const actual = hashOf(key, pepper);
	return hash.length === actual.length && timingSafeEqual(hash, actual);
}

function hashOf(key: string, pepper: string): Uint8Array {
	return createHmac("sha256", pepper).update(key).digest();
}

function tagOf(untagged: string, pepper: string): string {
	const mac = createHmac("sha256", pepper).update(`tag of ${untagged}`).digest();
	return toBase32(mac.subarray(0, tagLength));
}

/** One character for each byte's lower five bits. */
function toBase32(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => alphabet.charAt(byte & 31)).join("");
}
