import { type Address, getAddress } from "viem";

/**
 * Parses an address in any case and returns it with its checksum. Undefined if it is not an address, or has mixed case
 * and a wrong checksum.
 */
export function evmAddress(text: string): Address | undefined {
	if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
	const address = getAddress(text.toLowerCase());
	const digits = text.slice(2);
	const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
	return hasChecksum && text !== address ? undefined : address;
}
