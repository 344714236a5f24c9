/**
 * Writes JSON in which a bigint is `{"$bigint": "1"}`. Only the service's own values are sealed, and no other value
 * has that form.
 */
export function tokenToJson(value: unknown): string {
	return JSON.stringify(withoutBigints(value));
}

export function tokenFromJson(json: string): unknown {
	return JSON.parse(json, (_, item: unknown) =>
		typeof item === "object" && item !== null && "$bigint" in item ? BigInt(String(item.$bigint)) : item,
	);
}

/** Returns a copy without bigints. With a replacer instead, `JSON.stringify` takes several times as long. */
function withoutBigints(value: unknown): unknown {
	if (typeof value === "bigint") return { $bigint: String(value) };
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(withoutBigints);
	const copy: Record<string, unknown> = {};
	for (const name in value) copy[name] = withoutBigints((value as Record<string, unknown>)[name]);
	return copy;
}
