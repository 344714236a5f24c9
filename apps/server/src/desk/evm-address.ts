import { type Address, getAddress } from "viem";

/** An address in any case, with its checksum; undefined where it is none, or mixed in case with a wrong checksum. */
export function evmAddress(text: string): Address | undefined {
	if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
	const address = getAddress(text.toLowerCase());
	const digits = text.slice(2);
	const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
	return hasChecksum && text !== address ? undefined : address;
}
