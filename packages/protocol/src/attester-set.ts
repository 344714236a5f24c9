import { type Address, encodeAbiParameters, type Hex, keccak256 } from "viem";

/** The attesters that may decide an order, and how many of them must sign. */
export type AttesterSet = { threshold: number; attesters: readonly Address[] };

/** Returns the hash that an order carries for its attesters. Throws for a set that could never decide anything. */
export function attesterSetHash({ threshold, attesters }: AttesterSet): Hex {
	// The first attester is compared with the zero address, which cannot sign.
	const isAscending = attesters.every((attester, i) => BigInt(attester) > BigInt(attesters[i - 1] ?? 0));
	if (!isAscending) throw new RangeError("attesters must be distinct, not zero, and in ascending order");
	if (!Number.isInteger(threshold) || threshold < 1 || threshold > attesters.length) {
		throw new RangeError(`the threshold must be 1 to ${attesters.length}, not ${threshold}`);
	}
	return keccak256(
		encodeAbiParameters([{ type: "uint256" }, { type: "address[]" }], [BigInt(threshold), attesters]),
	);
}
