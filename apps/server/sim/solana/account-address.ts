import { createHash } from "node:crypto";
import { markerSeed, type SolanaAddress } from "@geoswap/protocol";
import { type Address, getAddressDecoder, getAddressEncoder, isOffCurveAddress } from "@solana/kit";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";

// Synchronous versions of derivations that kit does through WebCrypto, and so only asynchronously.

const addressEncoder = getAddressEncoder();
const addressDecoder = getAddressDecoder();
const tokenAddresses = new Map<string, SolanaAddress>();

/** Returns the address at which an owner is expected to hold a token. */
export function tokenAddressOf(holding: { owner: SolanaAddress; token: SolanaAddress }): SolanaAddress {
	const key = `${holding.owner}/${holding.token}`;
	const known = tokenAddresses.get(key) ?? findTokenAddress(holding);
	tokenAddresses.set(key, known);
	return known;
}

function findTokenAddress({ owner, token }: { owner: Address; token: Address }): Address {
	const seeds = [owner, TOKEN_PROGRAM_ADDRESS, token].map(bytesOf);
	for (let bump = 255; bump >= 0; bump--) {
		const address = hashed([
			...seeds,
			Uint8Array.of(bump),
			bytesOf(ASSOCIATED_TOKEN_PROGRAM_ADDRESS),
			Buffer.from("ProgramDerivedAddress"),
		]);
		if (isOffCurveAddress(address)) return address;
	}
	throw new Error(`${owner} has no account for ${token}`);
}

/** Returns the address of an order's marker: see `markerAddress`. */
export function markerAddressOf({ base, orderId }: { base: SolanaAddress; orderId: Hex }): SolanaAddress {
	return hashed([bytesOf(base), Buffer.from(markerSeed(orderId)), bytesOf(TOKEN_PROGRAM_ADDRESS)]);
}

function bytesOf(address: Address): Uint8Array {
	return addressEncoder.encode(address) as Uint8Array;
}

function hashed(parts: readonly Uint8Array[]): Address {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(part);
	return addressDecoder.decode(hash.digest());
}
