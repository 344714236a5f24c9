/** Pseudorandom numbers from a seed. Streams of one seed with different names are independent. */
export type SeededRandom = {
	/** Returns a number of at least 0 and below 1. */
	next: () => number;
	/** Returns a whole number, both ends included. */
	between: (least: number, most: number) => number;
	chance: (probability: number) => boolean;
	pick: <T>(of: readonly T[]) => T;
	bytes: (length: number) => Uint8Array;
	fork: (name: string) => SeededRandom;
};

export function seededRandom(seed: number | string): SeededRandom {
	const text = String(seed);
	let state = hash(text);
	// Mulberry32, which is short, and even enough to choose faults by.
	const next = () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
	return {
		next,
		between,
		chance: (probability) => next() < probability,
		pick: (of) => of[between(0, of.length - 1)] as (typeof of)[number],
		bytes: (length) => Uint8Array.from({ length }, () => between(0, 255)),
		fork: (name) => seededRandom(`${text}/${name}`),
	};
}

/** Returns the FNV-1a hash. */
function hash(text: string): number {
	let value = 0x811c9dc5;
	for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
	return value | 0;
}
