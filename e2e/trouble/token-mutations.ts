/** A string that differs from the token, and how it was made. */
export type Mutation = { how: string; token: string };

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const maxTokenBytes = 8 * 1024;

/** Changes one character, to `others` different ones at every n-th place, and to all others at the end of each part. */
export function changedCharacters(
	token: string,
	{ everyNth, others }: { everyNth: number; others: number },
): Mutation[] {
	const changed: Mutation[] = [];
	for (let i = 0; i < token.length; i += everyNth) {
		const at = alphabet.indexOf(token.charAt(i));
		for (let step = 1; step <= others; step++) {
			// Odd steps reach each character of the alphabet before they repeat one.
			const other = alphabet.charAt((Math.max(at, 0) + step * 23) % alphabet.length);
			changed.push({ how: `${other} at ${i}`, token: replaced(token, i, other) });
		}
	}
	for (const end of partEnds(token)) {
		for (const other of alphabet) {
			changed.push({ how: `${other} as last of a part, at ${end}`, token: replaced(token, end, other) });
		}
	}
	return withoutOriginal(changed, token);
}

/** Cuts the token off before every n-th character, and leaves that character out. */
export function shortened(token: string, { everyNth }: { everyNth: number }): Mutation[] {
	const places = Array.from({ length: Math.ceil(token.length / everyNth) }, (_, i) => i * everyNth);
	return withoutOriginal(
		places.flatMap((i) => [
			...(i > 0 ? [{ how: `cut at ${i}`, token: token.slice(0, i) }] : []),
			{ how: `without the character at ${i}`, token: token.slice(0, i) + token.slice(i + 1) },
		]),
		token,
	);
}

/** Strings that a lenient decoder takes for the same bytes, and other ways in which an agent may garble a token. */
export function otherSpellings(token: string): Mutation[] {
	const parts = token.split(".");
	const middle = Math.floor(token.length / 2);
	const extras = [
		"=",
		"==",
		" ",
		"\t",
		"\n",
		"\r\n",
		"\u0000",
		"\u00a0",
		"\ufeff",
		".",
		"A",
		"AAAA",
		'"',
		"%3D",
	];
	const eachPart = (how: string, change: (part: string) => string) =>
		parts.map((part, i) => ({ how: `${how}, part ${i}`, token: parts.with(i, change(part)).join(".") }));
	const whole: Record<string, string> = {
		"upper case": token.toUpperCase(),
		"lower case": token.toLowerCase(),
		"case flipped": swapCase(token),
		"plain base64": token.replaceAll("-", "+").replaceAll("_", "/"),
		"dots percent-encoded": token.replaceAll(".", "%2E"),
		"percent-encoded": Array.from(token, percentEncoded).join(""),
		"JSON in JSON": JSON.stringify(token),
		"base64 of it": Buffer.from(token).toString("base64url"),
		"full-width dots": token.replaceAll(".", "\uff0e"),
		"Cyrillic A": `${token.slice(0, middle)}\u0410${token.slice(middle + 1)}`,
		"8 KiB of it and more": token.padEnd(maxTokenBytes, "A"),
		"one byte above 8 KiB": token.padEnd(maxTokenBytes + 1, "A"),
		"28 KiB": token.padEnd(28 * 1024, "A"),
		"28 KiB of dots": token.padEnd(28 * 1024, "."),
		backwards: Array.from(token).reverse().join(""),
		twice: token + token,
		"twice, with a dot": `${token}.${token}`,
	};
	return withoutOriginal(
		[
			...extras.flatMap((extra) => [
				{ how: `${JSON.stringify(extra)} after it`, token: token + extra },
				{ how: `${JSON.stringify(extra)} before it`, token: extra + token },
				{
					how: `${JSON.stringify(extra)} inside it`,
					token: token.slice(0, middle) + extra + token.slice(middle),
				},
			]),
			...eachPart("padding", (part) => `${part}=`),
			...eachPart("a space", (part) => ` ${part}`),
			...eachPart("case flipped", swapCase),
			...eachPart("empty", () => ""),
			...parts.map((_, i) => ({
				how: `without part ${i}`,
				token: parts.filter((__, j) => i !== j).join("."),
			})),
			...Object.entries(whole).map(([how, spelled]) => ({ how, token: spelled })),
		],
		token,
	);
}

/**
 * Combines two tokens. Replaces parts of one by those of the other, singly and in any number, and puts both in a row.
 */
export function mixtures(token: string, other: string): Mutation[] {
	const [mine, theirs] = [token.split("."), other.split(".")];
	const mixed = Array.from({ length: 2 ** mine.length }, (_, chosen) =>
		mine.map((part, i) => (chosen & (1 << i) ? (theirs[i] ?? "") : part)).join("."),
	);
	return withoutOriginal(
		[...mixed, token + other, `${token}.${other}`, `${token},${other}`, `${token} ${other}`].map(
			(made, i) => ({ how: `mixture ${i}`, token: made }),
		),
		token,
	).filter(({ token: made }) => made !== other);
}

function withoutOriginal(mutations: Mutation[], token: string): Mutation[] {
	const seen = new Set([token, ""]);
	return mutations.filter((mutation) => !seen.has(mutation.token) && seen.add(mutation.token));
}

function replaced(text: string, at: number, character: string): string {
	return text.slice(0, at) + character + text.slice(at + 1);
}

/** Returns the index of the last character of each part that is not empty. */
function partEnds(token: string): number[] {
	return [...token.matchAll(/[^.](?=\.|$)/g)].map(({ index }) => index);
}

function swapCase(text: string): string {
	return Array.from(text, (letter) =>
		letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
	).join("");
}

function percentEncoded(character: string): string {
	return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}
