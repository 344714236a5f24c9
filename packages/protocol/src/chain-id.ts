/**
 * Converts a chain's id to a number. Throws for an id that a number cannot hold. Orders hold any 256 bits, but no
 * supported chain has such an id.
 */
export function toChainId(id: bigint): number {
	if (id <= 0n || id > BigInt(Number.MAX_SAFE_INTEGER))
		throw new RangeError(`${id} is not the id of a chain`);
	return Number(id);
}
