/** JSON in which a bigint is `{"$bigint": "1"}`. What is sealed is our own, so no other value looks like that. */
export function tokenToJson(value: unknown): string {
	return JSON.stringify(value, (_, item: unknown) =>
		typeof item === "bigint" ? { $bigint: String(item) } : item,
	);
}

export function tokenFromJson(json: string): unknown {
	return JSON.parse(json, (_, item: unknown) =>
		typeof item === "object" && item !== null && "$bigint" in item ? BigInt(String(item.$bigint)) : item,
	);
}
