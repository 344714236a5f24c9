/** A text as a shell reads it back. */
export function shellWord(text: string): string {
	return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
