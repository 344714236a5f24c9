import { base58 } from "@scure/base";
import { getAddress, type Hex, hexToBytes, isAddress, zeroAddress, zeroHash } from "viem";
import { fromSolanaWord, isSolanaAddress, toSolanaWord } from "./solana/solana-address.ts";
import { solanaChainId } from "./solana-chain-id.ts";
import { fromWord, toWord } from "./word.ts";

// Internally, an address is hex: 20 bytes with their checksum on an EVM chain, 32 bytes in lower case on Solana.

/** Returns the address in a word of an order, in the internal form of its chain. */
export function addressOfWord(chainId: number | bigint, word: Hex): Hex {
	return isSolana(chainId) ? (word.toLowerCase() as Hex) : fromWord(word);
}

/** Returns the word in which an order holds an address. */
export function wordOfAddress(chainId: number | bigint, address: Hex): Hex {
	if (!isSolana(chainId)) return toWord(address);
	if (address.length !== 66) throw new RangeError(`${address} is not 32 bytes`);
	return address.toLowerCase() as Hex;
}

/** Returns the token address that stands for a chain's native token, in the internal form of its chain. */
export function nativeTokenOf(chainId: number | bigint): Hex {
	return isSolana(chainId) ? zeroHash : zeroAddress;
}

/** Formats an address with its checksum on an EVM chain, or in base58 on Solana. */
export function formatAddress(chainId: number | bigint, address: Hex): string {
	return isSolana(chainId) ? fromSolanaWord(address) : getAddress(address);
}

/** Parses an address that a user entered. Returns undefined if it is not an address of that chain. */
export function parseAddress(chainId: number | bigint, text: string): Hex | undefined {
	if (!isSolana(chainId)) return isAddress(text) ? getAddress(text) : undefined;
	return isSolanaAddress(text) ? toSolanaWord(text) : undefined;
}

/** Formats a transaction's hash as its chain's explorers do. On Solana that is its first signature, in base58. */
export function formatTransactionHash(chainId: number | bigint, hash: Hex): string {
	return isSolana(chainId) ? base58.encode(hexToBytes(hash)) : hash;
}

export function isSolana(chainId: number | bigint): boolean {
	return BigInt(chainId) === BigInt(solanaChainId);
}
