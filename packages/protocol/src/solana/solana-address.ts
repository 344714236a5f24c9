import { type Address, getAddressDecoder, getAddressEncoder, isAddress } from "@solana/kit";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import * as z from "zod";

/** A Solana address in base58, as people and Solana's own programs write it. */
export type SolanaAddress = Address;

export const solanaAddressSchema = z
	.string()
	.refine((text) => isAddress(text), "not a Solana address")
	.transform((text) => text as SolanaAddress);

/** The native token's id. Its 32 bytes are zero, as the native token's on an EVM chain are. */
export const solanaNativeToken = "11111111111111111111111111111111" as SolanaAddress;

/** A Solana address as the 32-byte word that an order holds. */
export function toSolanaWord(address: SolanaAddress): Hex {
	return bytesToHex(getAddressEncoder().encode(address) as Uint8Array);
}

export function fromSolanaWord(word: Hex): SolanaAddress {
	const bytes = hexToBytes(word);
	if (bytes.length !== 32) throw new RangeError(`${word} is not a word`);
	return getAddressDecoder().decode(bytes);
}
