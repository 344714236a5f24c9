import { createHash } from "node:crypto";
import type { SolanaAddress } from "@geoswap/protocol";
import { type Address, getAddressDecoder, getAddressEncoder, isOffCurveAddress } from "@solana/kit";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";

const addressEncoder = getAddressEncoder();
const addressDecoder = getAddressDecoder();
const tokenAddresses = new Map<string, SolanaAddress>();

/**
 * Returns the address at which an owner is expected to hold a token. kit derives it through WebCrypto, and so only
 * asynchronously.
 */
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

function bytesOf(address: Address): Uint8Array {
	return addressEncoder.encode(address) as Uint8Array;
}

function hashed(parts: readonly Uint8Array[]): Address {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(part);
	return addressDecoder.decode(hash.digest());
}
