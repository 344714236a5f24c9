import { createAddressWithSeed } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { bytesToHex, type Hex, hexToBytes } from "viem";
import { base64UrlOf } from "./base64-url.ts";
import type { SolanaAddress } from "./solana-address.ts";

/** Bytes of an order's id that fit into a seed of 32 characters. Finding two orders that share them is infeasible. */
const seedBytes = 24;

/**
 * Returns the address of an order's marker: a token account that exists once the order is decided on this side, and
 * that can be created only once. `base` signs for it, and is the vault (was the output paid, or the order closed?) or
 * the escrow (was the input released, or refunded?). The marker's owner tells which: the vault if the vault got or gave
 * its due, the escrow if the input is the wallet's. An order within Solana has only the vault's marker, which its
 * refund creates too.
 */
export async function markerAddress({
	base,
	orderId,
}: {
	base: SolanaAddress;
	orderId: Hex;
}): Promise<SolanaAddress> {
	return createAddressWithSeed({
		baseAddress: base,
		programAddress: TOKEN_PROGRAM_ADDRESS,
		seed: markerSeed(orderId),
	});
}

export function markerSeed(orderId: Hex): string {
	const bytes = hexToBytes(orderId);
	if (bytes.length !== 32) throw new RangeError(`${bytesToHex(bytes)} is not an order's id`);
	return base64UrlOf(bytes.slice(0, seedBytes));
}

/** The size of a token account in bytes, and the lamports it must hold so that the chain keeps it. */
export const tokenAccountSize = 165;
export const tokenAccountRentLamports = 2_039_280n;
/** The least that an account without data may hold, unless it holds nothing at all. */
export const emptyAccountRentLamports = 890_880n;
