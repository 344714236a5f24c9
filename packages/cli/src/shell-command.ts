import { printable } from "./printable.ts";

/** Returns a command to paste into a shell, with each word quoted if necessary. */
export function shellCommand(...words: string[]): string {
	return words.map(shellWord).join(" ");
}

function shellWord(text: string): string {
	if (/^[\w@%+:,./-]+$/.test(text)) return text;
	// A line break would end the pasted command, even in quotes.
	return `'${printable(text).replaceAll("'", "'\\''")}'`;
}
