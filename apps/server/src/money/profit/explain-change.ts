import type { Amount, UsdE18 } from "@geoswap/protocol";
import type { PriceMark } from "./price-marks.ts";

/** A change of what the desk holds of a token, in a block. */
export type Change = { blockNumber: number; amount: Amount };

/** Why the value of a holding changed. Values are integers of 10^-36 USD. */
export type Explained = {
	/** What came in and went out, each at the price of its block. */
	flows36: bigint;
	/** What the desk held while the price changed. */
	positions36: bigint;
	usdOpening: UsdE18;
	usdClosing: UsdE18;
};

const maxDecimals = 18;

/** Returns the value of an amount, exactly. */
export function value36(amount: Amount, { decimals, usdE18 }: { decimals: number; usdE18: UsdE18 }): bigint {
	if (decimals > maxDecimals) throw new RangeError(`a token with ${decimals} decimals has no exact value`);
	return amount * usdE18 * 10n ** BigInt(maxDecimals - decimals);
}

/** Returns the price in force in a block: that of the newest mark up to it, or else of the first mark. */
export function priceAt(marks: readonly PriceMark[], blockNumber: number): UsdE18 | undefined {
	return (marks.findLast((mark) => mark.blockNumber <= blockNumber) ?? marks[0])?.usdE18;
}

/**
 * Explains the change of value of a holding between the ends of two blocks. The two parts add up to the value at the end
 * less the value at the beginning, to the last digit, because nothing is divided. A change in the block of a mark has the
 * new price. Returns undefined if the token has no price.
 */
export function explainChange({
	opening,
	decimals,
	after,
	upTo,
	changes,
	marks,
}: {
	opening: Amount;
	decimals: number;
	after: number;
	upTo: number;
	/** The changes in the blocks after `after`, up to `upTo`, in any order. */
	changes: readonly Change[];
	marks: readonly PriceMark[];
}): Explained | undefined {
	const [usdOpening, usdClosing] = [priceAt(marks, after), priceAt(marks, upTo)];
	if (usdOpening === undefined || usdClosing === undefined) return undefined;
	const worth = (amount: Amount, usdE18: UsdE18) => value36(amount, { decimals, usdE18 });
	const inOrder = changes.toSorted((one, other) => one.blockNumber - other.blockNumber);
	let [held, price] = [opening, usdOpening];
	let [flows36, positions36] = [0n, 0n];
	const steps = marks.filter(({ blockNumber }) => blockNumber > after && blockNumber <= upTo);
	for (const { blockNumber, amount } of inOrder) {
		while (steps[0] && steps[0].blockNumber <= blockNumber) reprice(steps.shift() as PriceMark);
		flows36 += worth(amount, price);
		held += amount;
	}
	for (const step of steps) reprice(step);
	return { flows36, positions36, usdOpening, usdClosing };

	function reprice({ usdE18 }: PriceMark): void {
		positions36 += worth(held, usdE18) - worth(held, price);
		price = usdE18;
	}
}
