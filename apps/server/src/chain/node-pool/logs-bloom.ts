import { type Hex, hexToBytes, keccak256 } from "viem";

/**
 * Returns false if a block with this bloom filter has no log with this address or topic. Without a filter, or with one
 * of another form, it may have any.
 */
export function bloomMayHold(logsBloom: string | undefined, addressOrTopic: string): boolean {
	if (logsBloom?.length !== 2 + 512) return true;
	const bloom = hexToBytes(logsBloom as Hex);
	const hash = hexToBytes(keccak256(addressOrTopic as Hex));
	return [0, 2, 4].every((i) => {
		const bit = (((hash[i] ?? 0) << 8) | (hash[i + 1] ?? 0)) & 2047;
		return ((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1;
	});
}

/** Returns whether so few bits are set that an address is rarely found by chance: in less than one block of 64. */
export function isBloomSparse(logsBloom: string | undefined): boolean {
	const bits = [...BigInt(logsBloom ?? 0).toString(2)].filter((bit) => bit === "1").length;
	return bits > 0 && bits <= 512;
}
