import { type Amount, greater, lesser, mulDivDown, mulDivUp } from "@geoswap/protocol";
import type { Ladder, Rung } from "../../chain/evm/read/read-block-prices.ts";

// Pools round against the swapper once per pool and stretch of liquidity, by a unit of the input and a unit of the
// output. The rungs include their own rounding, so a size between them may pay a few units below the chord.
const roundingUnits = 4n;

/**
 * Returns the minimum that the pools pay for `input` after `before` was swapped ahead of it, or undefined above the
 * top rung. A pool's output is concave in its input, so the chord between two rungs never promises more than the pool
 * pays.
 */
export function interpolate(rungs: readonly Rung[], input: Amount, before = 0n): bigint | undefined {
	if (input < 0n || before < 0n) throw new RangeError(`cannot price ${input} after ${before}`);
	const end = before + input;
	const i = rungs.findIndex((rung) => rung.input >= end);
	if (i === -1) return undefined;
	if (input <= roundingUnits) return 0n;
	const priced = input - roundingUnits;
	const paid =
		before === 0n
			? chord(rungs, i, priced)
			: greater(chord(rungs, i, before + priced) - ceiling(rungs, before), atNextSlope(rungs, i, priced));
	return greater(paid - roundingUnits, 0n);
}

/** Returns the output of the ladder that pays most, and its fee tiers, or undefined if no ladder reaches that far. */
export function interpolateBest(
	ladders: readonly Ladder[],
	input: Amount,
	before = 0n,
): { output: Amount; fees: number[] } | undefined {
	let best: { output: Amount; fees: number[] } | undefined;
	for (const { rungs, fees } of ladders) {
		const output = interpolate(rungs, input, before);
		if (output !== undefined && (!best || output > best.output)) best = { output, fees };
	}
	return best;
}

/** Returns a lower bound of the output for the first `x`, which is at most rung `i`. */
function chord(rungs: readonly Rung[], i: number, x: bigint): bigint {
	// Deducting the rounding may have crossed a rung.
	const above = x < inputOf(rungs[i - 1]) ? i - 1 : i;
	const [a, b] = [rungs[above - 1] ?? origin, rungs[above] ?? origin];
	if (x <= a.input) return a.output;
	return a.output + mulDivDown(b.output - a.output, x - a.input, b.input - a.input);
}

/**
 * Returns an upper bound of the output for the first `x`, because a concave curve lies below the extended chords
 * beside it.
 */
function ceiling(rungs: readonly Rung[], x: bigint): bigint {
	const i = rungs.findIndex((rung) => rung.input >= x);
	const at = rungs[i] ?? origin;
	if (at.input === x) return at.output;
	const [a, b] = [rungs[i - 2] ?? origin, rungs[i - 1]];
	const [c, d] = [at, rungs[i + 1]];
	// Outputs rise with inputs, so the rung above is a bound too.
	let bound = c.output;
	if (b) {
		bound = lesser(bound, b.output + mulDivUp(b.output - a.output, x - b.input, b.input - a.input));
	}
	if (d) {
		bound = lesser(bound, c.output - mulDivDown(d.output - c.output, c.input - x, d.input - c.input));
	}
	return bound;
}

/**
 * Returns a lower bound for a small size far up the ladder, because each unit pays at least as much as a unit beyond
 * the rung above.
 */
function atNextSlope(rungs: readonly Rung[], i: number, input: Amount): bigint {
	const [a, b] = [rungs[i], rungs[i + 1]];
	return a && b ? mulDivDown(input, b.output - a.output, b.input - a.input) : 0n;
}

const origin: Rung = { input: 0n, output: 0n };

function inputOf(rung: Rung | undefined): bigint {
	return (rung ?? origin).input;
}
