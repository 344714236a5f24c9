/** A pseudorandom generator that is determined by its seed. */
export type SeededRandom = {
	/** Returns an integer, both ends included. */
	between: (least: number, most: number) => number;
	chance: (probability: number) => boolean;
	pick: <T>(of: readonly T[]) => T | undefined;
};

/** Mulberry32, which is short, and uniform enough to choose faults. */
export function seededRandom(seed: number): SeededRandom {
	let state = seed | 0;
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
	return {
		between,
		chance: (probability) => next() < probability,
		pick: (of) => of[between(0, of.length - 1)],
	};
}
