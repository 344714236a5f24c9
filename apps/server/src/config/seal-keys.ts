import { createSecretKey, type KeyObject } from "node:crypto";
import type { Milliseconds } from "@geoswap/protocol";

/** The endpoint family that a token is for, or the list that a cursor is for. */
export type SealPurpose = "quote:evm" | "quote:solana" | "op:evm" | "op:solana" | "cursor:swaps";

export type SealKey = {
	/** The key's name in the header of its tokens. */
	kid: string;
	/** The first part of all its tokens, which is a JWE's protected header. It names no algorithm but the service's. */
	header: string;
	secret: KeyObject;
	/** The time from which the key seals, until the next key does. */
	sealsFromMs: Milliseconds;
	/** The time at which the next key begins to seal. Infinity for the newest. */
	retiredAtMs: Milliseconds;
};

/** The keys of a service, newest first. Each process has a new key before the time from which it seals. */
export type SealKeys = {
	keys: readonly SealKey[];
	/** How long a retired key opens what it sealed. */
	openMs: Milliseconds;
	nowMs: () => Milliseconds;
};

/** Longer tokens are neither sealed nor opened. */
export const maxTokenBytes = 8 * 1024;

/** A submitted op may be sent again for as long as its swap can continue. */
const defaultOpenMs = 30 * 86_400_000;

/**
 * Reads `kid:secret,kid2:secret2@2026-12-01T00:00:00Z`. Each secret is 32 bytes of base64url, and the time is when
 * the key begins to seal. One key, the first, has no time.
 */
export function parseSealKeys(
	text: string,
	{ openMs = defaultOpenMs, nowMs = Date.now }: { openMs?: Milliseconds; nowMs?: () => Milliseconds } = {},
): SealKeys {
	const entries = text
		.split(",")
		.map(parseEntry)
		.toSorted((a, b) => b.sealsFromMs - a.sealsFromMs);
	if (new Set(entries.map(({ kid }) => kid)).size !== entries.length) {
		throw new RangeError("two seal keys have the same id");
	}
	if (new Set(entries.map(({ sealsFromMs }) => sealsFromMs)).size !== entries.length) {
		throw new RangeError(
			"two seal keys start to seal at the same time; give every key but the first its own time",
		);
	}
	const keys = entries.map((entry, i) => ({
		...entry,
		retiredAtMs: entries[i - 1]?.sealsFromMs ?? Number.POSITIVE_INFINITY,
	}));
	if (!keys.some(({ sealsFromMs }) => sealsFromMs <= nowMs()))
		throw new RangeError("no seal key is active yet");
	return { keys, openMs, nowMs };
}

/** Returns the key that seals now. */
export function sealingKey({ keys, nowMs }: SealKeys): SealKey {
	const now = nowMs();
	const key = keys.find(({ sealsFromMs }) => sealsFromMs <= now);
	if (!key) throw new RangeError("no seal key is active yet");
	return key;
}

function parseEntry(entry: string): Omit<SealKey, "retiredAtMs"> {
	const [keyText = "", time, ...more] = entry.trim().split("@");
	const [kid = "", encoded = "", ...rest] = keyText.split(":");
	const secret = Buffer.from(encoded, "base64url");
	// Decoding skips characters that are not base64url, so a key with a typo would become another key.
	const isExact = secret.length === 32 && secret.toString("base64url") === encoded;
	// The message must not repeat the refused text, which may be most of a secret.
	if (!/^[A-Za-z0-9_-]{1,32}$/.test(kid) || rest.length > 0 || more.length > 0 || !isExact) {
		throw new RangeError("a seal key must be an id, a colon and 32 bytes in base64url");
	}
	const key = { kid, header: headerOf(kid), secret: createSecretKey(secret) };
	if (time === undefined) return { ...key, sealsFromMs: Number.NEGATIVE_INFINITY };
	const sealsFromMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(time) ? Date.parse(time) : Number.NaN;
	if (Number.isNaN(sealsFromMs)) {
		throw new RangeError(`the time of the seal key ${kid} must have the form 2026-12-01T00:00:00Z`);
	}
	return { ...key, sealsFromMs };
}

function headerOf(kid: string): string {
	return Buffer.from(JSON.stringify({ alg: "dir", enc: "A256GCM", kid })).toString("base64url");
}
