import { createHash } from "node:crypto";

/** Pseudorandom numbers from a seed. The same seed gives the same numbers on every machine. */
export type HashedRandom = {
	/** Returns a number of at least 0 and below 1. */
	next: () => number;
	/** Returns a number of the normal distribution with mean 0 and standard deviation 1. */
	normal: () => number;
	bytes: (size: number) => Uint8Array;
};

export function hashedRandom(seed: string): HashedRandom {
	let counter = 0;
	const bytes = (size: number): Uint8Array => {
		const blocks = Array.from({ length: Math.ceil(size / 32) }, () => {
			counter += 1;
			return createHash("sha256").update(`${seed}/${counter}`).digest();
		});
		return Buffer.concat(blocks).subarray(0, size);
	};
	const next = () => Buffer.from(bytes(6)).readUIntBE(0, 6) / 2 ** 48;
	return {
		next,
		bytes,
		// The transform of Box and Muller.
		normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
	};
}
