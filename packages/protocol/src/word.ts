import { type Address, getAddress, type Hex, isAddress, pad, slice } from "viem";

/** Returns an EVM address as the 32-byte word that an order holds. */
export function toWord(address: Address): Hex {
	// Padding would also turn anything shorter into a word.
	if (!isAddress(address, { strict: false })) throw new RangeError(`${address} is not an EVM address`);
	return pad(address.toLowerCase() as Address, { size: 32 });
}

/** Returns the EVM address in a word. Throws if the word holds anything more, as the contracts do. */
export function fromWord(word: Hex): Address {
	if (toWord(slice(word, 12)) !== word.toLowerCase()) {
		throw new RangeError(`${word} is not the word of an EVM address`);
	}
	return getAddress(slice(word, 12));
}
