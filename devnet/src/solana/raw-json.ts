/** Writes 64-bit integers of any size as bare digits, as a cluster does. */
export function toRawJson(value: unknown): string {
	return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? rawJson(String(part)) : part));
}

const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (digits: string) => unknown };
