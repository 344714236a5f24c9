/** A query with its parameters, which can stand alone or be a part of a statement. */
export type Part = { text: string; values: unknown[] };

/** Returns the parts' texts for one statement, with consecutively numbered parameters, and all values. */
export function joinParts(parts: readonly Part[]): { texts: string[]; values: unknown[] } {
	const values: unknown[] = [];
	const texts = parts.map((part) => {
		const before = values.length;
		values.push(...part.values);
		return part.text.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`);
	});
	return { texts, values };
}
