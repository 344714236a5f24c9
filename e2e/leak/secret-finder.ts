import { getBase58Decoder } from "@solana/kit";

/** A value that must be in no log. */
export type Secret = { kind: string; value: string | Uint8Array };

export type Finding = {
	kind: string;
	/** Line number, starting at 1. */
	line: number;
	/** Long enough to search for, too short to use. */
	excerpt: string;
};

/** Secrets that are recognized by their form. */
const patterns: readonly { kind: string; pattern: RegExp }[] = [
	{ kind: "API key", pattern: /geosk_[0-9a-z]{6,}_[0-9a-z]{20,}/gi },
	// The third part of a token is random. In the made-up tokens of hostile requests it is short, or nothing but A.
	{ kind: "sealed token", pattern: /eyJ[\w-]{16,}\.[\w-]*\.(?!A+\b)[\w-]{16,}/g },
	{ kind: "private key in PEM", pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/g },
	{ kind: "address with a password", pattern: /\b[a-z][a-z0-9+.-]*:\/\/[^\s:@/"']*:[^\s@/"']+@/gi },
];

/**
 * A leaked secret is printed whole or in large part, so the search is for windows of this length, starting at every
 * half window of the secret. They are long enough that none occurs by chance.
 */
const windowLength = 20;
const windowStep = windowLength / 2;
const bytesInWindow = 12;

/** Text in which a secret could be, in any encoding. */
const runs = /[A-Za-z0-9+/_=-]{20,}/g;
/** `1,2,3`, a list of bytes. */
const byteLists = /(?:\d{1,3}[,\s]+){11,}\d{1,3}/g;
/** `"0":1,"1":2`, a Uint8Array in JSON. */
const byteObjects = /(?:"\d+":\s*\d{1,3}[,\s]+){11,}"\d+":\s*\d{1,3}/g;
/** `1a 2b`, a buffer as Node prints it. */
const spacedHex = /(?:[0-9a-f]{2}[ :]){11,}[0-9a-f]{2}/gi;

/** Finds secrets in text, in any encoding of their bytes. The cost does not depend on the number of secrets. */
export function createSecretFinder(secrets: readonly Secret[]): (text: string) => Finding[] {
	const exact = new Map<string, string>();
	const hex = new Map<string, string>();
	const base64 = new Map<string, string>();
	const bytes = new Map<string, string>();
	for (const { kind, value } of secrets) {
		const raw = typeof value === "string" ? Buffer.from(value, "utf8") : Buffer.from(value);
		if (typeof value === "string") addWindows(exact, value, kind);
		else {
			addWindows(exact, getBase58Decoder().decode(value), kind);
			addWindows(exact, BigInt(`0x${raw.toString("hex")}`).toString(), kind);
		}
		addWindows(hex, raw.toString("hex"), kind);
		for (const spelled of [raw, Buffer.from(raw.toString("hex"))].flatMap(base64Anywhere)) {
			addWindows(base64, spelled, kind);
		}
		for (let i = 0; i + bytesInWindow <= raw.length; i += bytesInWindow / 2) {
			bytes.set(raw.subarray(i, i + bytesInWindow).join(), kind);
		}
	}

	return (text) => {
		const found = new Map<string, { kind: string; index: number; excerpt: string }>();
		const add = (kind: string, index: number, what: string) => {
			const key = `${kind} ${what.slice(0, windowLength)}`;
			if (!found.has(key)) found.set(key, { kind, index, excerpt: `${what.slice(0, 8)}…` });
		};
		for (const { kind, pattern } of patterns) {
			for (const match of text.matchAll(pattern)) add(kind, match.index, match[0]);
		}
		for (const { 0: run, index } of text.matchAll(runs)) {
			const spellings = [
				[exact, run],
				[hex, run.toLowerCase()],
				[base64, run.replaceAll("-", "+").replaceAll("_", "/")],
			] as const;
			for (const [windows, spelled] of spellings) {
				const at = firstWindow(windows, spelled);
				if (at) add(at.kind, index, run.slice(at.index));
			}
		}
		for (const { 0: spaced, index } of text.matchAll(spacedHex)) {
			const at = firstWindow(hex, spaced.replace(/[ :]/g, "").toLowerCase());
			if (at) add(at.kind, index, spaced);
		}
		for (const pattern of [byteLists, byteObjects]) {
			for (const { 0: list, index } of text.matchAll(pattern)) {
				const kind = kindOfBytes(bytes, list);
				if (kind) add(kind, index, list);
			}
		}
		return [...found.values()].map(({ kind, index, excerpt }) => ({
			kind,
			line: lineOf(text, index),
			excerpt,
		}));
	};
}

function addWindows(windows: Map<string, string>, spelled: string, kind: string): void {
	for (let i = 0; i + windowLength <= spelled.length; i += windowStep) {
		windows.set(spelled.slice(i, i + windowLength), kind);
	}
}

function firstWindow(
	windows: ReadonlyMap<string, string>,
	text: string,
): { kind: string; index: number } | undefined {
	for (let index = 0; index + windowLength <= text.length; index++) {
		const kind = windows.get(text.slice(index, index + windowLength));
		if (kind !== undefined) return { kind, index };
	}
	return undefined;
}

function kindOfBytes(windows: ReadonlyMap<string, string>, list: string): string | undefined {
	const numbers = list.replace(/"\d+":/g, "").match(/\d+/g) ?? [];
	for (let i = 0; i + bytesInWindow <= numbers.length; i++) {
		const kind = windows.get(numbers.slice(i, i + bytesInWindow).join());
		if (kind !== undefined) return kind;
	}
	return undefined;
}

/** Returns the three base64 forms of these bytes in the middle of others, by the offset at which they begin. */
function base64Anywhere(bytes: Buffer): string[] {
	return [0, 1, 2].map((before) => {
		const encoded = Buffer.concat([Buffer.alloc(before), bytes])
			.toString("base64")
			.replace(/=+$/, "");
		// The first and the last character may also encode bits of neighbouring bytes.
		return encoded.slice(before === 0 ? 0 : before + 1, -1);
	});
}

function lineOf(text: string, index: number): number {
	return text.slice(0, index).split("\n").length;
}
