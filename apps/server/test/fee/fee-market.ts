/** A fee that moves by at most an eighth per block, between its lowest value and `range` times that. */
export type MovingFee = {
	now: () => bigint;
	/** Moves it by a block. */
	next: () => void;
	/** The lowest and the highest value so far. */
	lowest: () => bigint;
	highest: () => bigint;
};

/**
 * Returns a fee that wanders. It moves to a random height of its range, by up to an eighth per block and mostly towards
 * that height, and then to another.
 */
export function movingFee(
	{ least, range }: { least: bigint; range: number },
	random: () => number,
): MovingFee {
	const most = Number(least) * range;
	const heightOf = (share: number) => Number(least) * range ** share;
	let fee = heightOf(0.5);
	let target = heightOf(random());
	const seen = { lowest: fee, highest: fee };
	return {
		now: () => BigInt(Math.round(fee)),
		next: () => {
			if (Math.abs(Math.log(fee / target)) < 0.1) target = heightOf(random());
			const isTowards = random() < 0.75;
			const isUp = fee < target === isTowards;
			const step = random() / 8;
			fee = Math.min(Math.max(fee * (isUp ? 1 + step : 1 - step), Number(least)), most);
			seen.lowest = Math.min(seen.lowest, fee);
			seen.highest = Math.max(seen.highest, fee);
		},
		lowest: () => BigInt(Math.round(seen.lowest)),
		highest: () => BigInt(Math.round(seen.highest)),
	};
}

/** Returns numbers from 0 to 1 that the seed determines (mulberry32). */
export function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}
