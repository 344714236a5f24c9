import { base58 } from "@scure/base";
import { bytesToHex, type Hex, hexToBytes } from "viem";

/**
 * A Solana address in base58, as users and Solana's own programs write it. It is `@solana/kit`'s `Address`, spelled out
 * so that code without Solana does not need the types of that package.
 */
export type SolanaAddress = string & {
	readonly "__brand:@solana/kit": "Address";
	readonly "__stringEncoding:@solana/kit": "base58";
};

export function isSolanaAddress(text: string): text is SolanaAddress {
	// Texts of other lengths cannot be 32 bytes, and cost more to decode the longer they are.
	if (text.length < 32 || text.length > 44) return false;
	try {
		return base58.decode(text).length === 32;
	} catch {
		return false;
	}
}

/** The native token's id. Its 32 bytes are zero, as for the native token of an EVM chain. */
export const solanaNativeToken = "11111111111111111111111111111111" as SolanaAddress;

/** Returns a Solana address as the 32-byte word that an order holds. */
export function toSolanaWord(address: SolanaAddress): Hex {
	if (!isSolanaAddress(address)) throw new RangeError(`${address} is not a Solana address`);
	return bytesToHex(base58.decode(address));
}

export function fromSolanaWord(word: Hex): SolanaAddress {
	const bytes = hexToBytes(word);
	if (bytes.length !== 32) throw new RangeError(`${word} is not a word of 32 bytes`);
	return base58.encode(bytes) as SolanaAddress;
}
