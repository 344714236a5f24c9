/** An order's three deadlines, each in unix seconds of the chain that checks it. */
export type Deadlines = {
	/** The last second in which the order may be opened. */
	openDeadline: bigint;
	/** The first second in which it can no longer be filled. */
	fillDeadline: bigint;
	/** The first second in which anyone may refund it. */
	refundAfter: bigint;
};

const uint64 = (1n << 64n) - 1n;

/** Packs an order's deadlines into the word that it carries. Throws if no escrow would open such an order. */
export function packDeadlines({ openDeadline, fillDeadline, refundAfter }: Deadlines): bigint {
	for (const time of [openDeadline, fillDeadline, refundAfter]) {
		if (time < 0n || time > uint64) throw new RangeError(`${time} is not a time in unix seconds`);
	}
	if (openDeadline >= fillDeadline || fillDeadline >= refundAfter) {
		throw new RangeError(
			`deadlines must be in ascending order: ${openDeadline}, ${fillDeadline}, ${refundAfter}`,
		);
	}
	return (openDeadline << 128n) | (fillDeadline << 64n) | refundAfter;
}

/** Unpacks the deadlines from an order's word. */
export function unpackDeadlines(word: bigint): Deadlines {
	if (word < 0n || word >> 192n !== 0n) throw new RangeError("the word has bits above its three deadlines");
	return { openDeadline: word >> 128n, fillDeadline: (word >> 64n) & uint64, refundAfter: word & uint64 };
}

/**
 * Returns true if the deadlines leave as much time as those of every quote. A deposit in the last second and its fill
 * can then both be final before the fill deadline, and a fill in the last second and its release can both be final
 * before anyone may refund the input. `finalitySeconds` is the time that the two chains together need.
 */
export function leavesTimeToSettle(
	{ openDeadline, fillDeadline, refundAfter }: Deadlines,
	finalitySeconds: bigint,
): boolean {
	return fillDeadline - openDeadline > finalitySeconds && refundAfter - fillDeadline > finalitySeconds;
}
