/** Converts a chain's id to a number. Orders hold any 256 bits; an id that a number cannot hold is no chain of ours. */
export function toChainId(id: bigint): number {
	if (id <= 0n || id > BigInt(Number.MAX_SAFE_INTEGER))
		throw new RangeError(`${id} is not the id of a chain`);
	return Number(id);
}
