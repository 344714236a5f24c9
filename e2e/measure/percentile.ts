/** Returns the value that `percent` per cent of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
	return values.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * values.length) - 1] ?? 0;
}
