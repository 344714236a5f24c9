/**
 * Returns the mean of max(delivered − input, 0) after both have moved, which is the value of the right to choose
 * between the two (Margrabe's formula). `deviation` is the standard deviation of the logarithm of their ratio until
 * then.
 */
export function exchangeOption({
	delivered,
	input,
	deviation,
}: {
	delivered: number;
	input: number;
	deviation: number;
}): number {
	if (delivered <= 0) return 0;
	if (deviation === 0) return Math.max(delivered - input, 0);
	const upper = Math.log(delivered / input) / deviation + deviation / 2;
	return delivered * normalBelow(upper) - input * normalBelow(upper - deviation);
}

/** Returns the share of a normal distribution below a value, exact to about 1e-15 also far from the middle. */
function normalBelow(value: number): number {
	if (value > 0) return 1 - normalBelow(-value);
	const x = -value;
	const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
	if (x < 3) {
		// Uses the series around the middle.
		let term = x;
		let sum = x;
		for (let k = 1; Math.abs(term) > 1e-17; k++) {
			term *= (x * x) / (2 * k + 1);
			sum += term;
		}
		return 0.5 - density * sum;
	}
	// Uses the continued fraction of the tail.
	let fraction = x;
	for (let k = 60; k > 0; k--) fraction = x + k / fraction;
	return density / fraction;
}
