import { type Hex, hexToBytes, keccak256 } from "viem";

/**
 * Returns false if a block with this bloom filter has no log with this address or topic. Without a filter, or with one
 * of another form, it may have any.
 */
export function mayHold(logsBloom: string | undefined, addressOrTopic: string): boolean {
	if (logsBloom?.length !== 2 + 512) return true;
	const bloom = hexToBytes(logsBloom as Hex);
	const hash = hexToBytes(keccak256(addressOrTopic as Hex));
	return [0, 2, 4].every((i) => {
		const bit = (((hash[i] ?? 0) << 8) | (hash[i + 1] ?? 0)) & 2047;
		return ((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1;
	});
}
