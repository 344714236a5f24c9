import { createHmac, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const idLength = 12;
const randomLength = 32;
const tagLength = 8;
const checksumLength = 7;

/**
 * `geosk_<id>_<secret><tag><checksum>`, all in base32. The tag authenticates the part before it under the pepper, so
 * that a key which the service never issued is refused without a database query. The checksum needs no secret, so
 * scanners for leaked keys can use it to tell real keys from similar texts.
 */
const pattern = /geosk_([0-9a-hjkmnp-tv-z]{12})_[0-9a-hjkmnp-tv-z]{47}/;
const exactPattern = new RegExp(`^${pattern.source}$`);
/** The length of every key. */
export const apiKeyLength =
	"geosk_".length + idLength + "_".length + randomLength + tagLength + checksumLength;

/** Creates a key. The text is shown once; only the id and the hash are stored. */
export function createApiKey({ pepper, random }: { pepper: string; random: (bytes: number) => Uint8Array }): {
	id: string;
	key: string;
	hash: Uint8Array;
} {
	const id = toBase32(random(idLength));
	const untagged = `geosk_${id}_${toBase32(random(randomLength))}`;
	const tagged = untagged + tagOf(untagged, pepper);
	const key = tagged + checksumOf(tagged);
	return { id, key, hash: hashOf(key, pepper) };
}

/** Returns the part of a key that is its id, without checking the rest. */
export function idPartOf(key: string): string {
	return key.slice("geosk_".length, "geosk_".length + idLength);
}

/**
 * Returns the id in a key that the service issued, or undefined. Only the database knows whether the key is still
 * valid.
 */
export function readApiKeyId(key: string, { pepper }: { pepper: string }): string | undefined {
	const id = exactPattern.exec(key)?.[1];
	if (!id || !hasRightChecksum(key)) return undefined;
	const tagged = key.slice(0, -checksumLength);
	const tag = tagOf(tagged.slice(0, -tagLength), pepper);
	return timingSafeEqual(Buffer.from(tag), Buffer.from(tagged.slice(-tagLength))) ? id : undefined;
}

export function isApiKey(key: string, { hash, pepper }: { hash: Uint8Array; pepper: string }): boolean {
	const actual = hashOf(key, pepper);
	return hash.length === actual.length && timingSafeEqual(hash, actual);
}

export type FoundKey = { key: string; id: string; offset: number; isRightChecksum: boolean };

/** Finds everything in a text that looks like a key. */
export function findApiKeysIn(text: string): FoundKey[] {
	return Array.from(text.matchAll(new RegExp(pattern, "g")), ({ 0: key, 1: id = "", index }) => ({
		key,
		id,
		offset: index,
		isRightChecksum: hasRightChecksum(key),
	}));
}

function hasRightChecksum(key: string): boolean {
	return checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength);
}

/** Returns the CRC-32 as seven base32 digits, the highest first. */
function checksumOf(text: string): string {
	let rest = crc32(text);
	let digits = "";
	while (digits.length < checksumLength) {
		digits = alphabet.charAt(rest % 32) + digits;
		rest = Math.floor(rest / 32);
	}
	return digits;
}

function hashOf(key: string, pepper: string): Uint8Array {
	return createHmac("sha256", pepper).update(key).digest();
}

function tagOf(untagged: string, pepper: string): string {
	const mac = createHmac("sha256", pepper).update(`tag of ${untagged}`).digest();
	return toBase32(mac.subarray(0, tagLength));
}

/** Returns one character for the lower five bits of each byte. */
function toBase32(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => alphabet.charAt(byte & 31)).join("");
}
