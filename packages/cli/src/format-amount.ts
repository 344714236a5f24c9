/** Formats smallest units as whole tokens, exactly. */
export function formatAmount(units: bigint | string, decimals: number): string {
	const digits = String(units).padStart(decimals + 1, "0");
	const whole = digits.slice(0, digits.length - decimals);
	const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
	return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Formats smallest units as whole tokens with their symbol. */
export function wholeTokens(
	units: bigint | string,
	{ symbol, decimals }: { symbol: string; decimals: number },
): string {
	return `${formatAmount(units, decimals)} ${symbol}`;
}
