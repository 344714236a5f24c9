import { type Address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";
import type { SolanaAddress } from "../solana-address.ts";

/** Returns the address of the account that holds an order's state, and its input if that is SOL. */
export function orderAddress(program: SolanaAddress, orderId: Hex): Promise<SolanaAddress> {
	return derived(program, "order", hexToBytes(orderId));
}

/** Returns the address of the token account that holds an order's input. */
export function inputAddress(program: SolanaAddress, orderId: Hex): Promise<SolanaAddress> {
	return derived(program, "input", hexToBytes(orderId));
}

/** Returns the address of the account that exists once an order from another chain was filled or voided. */
export function recordAddress(program: SolanaAddress, orderId: Hex): Promise<SolanaAddress> {
	return derived(program, "fill", hexToBytes(orderId));
}

/** Returns the address of the vault that an owner created. It stays the same if the vault gets another owner. */
export function vaultAddress(
	program: SolanaAddress,
	creator: SolanaAddress,
	index = 0,
): Promise<SolanaAddress> {
	return derived(program, "vault", new Uint8Array(getAddressEncoder().encode(creator)), Uint8Array.of(index));
}

async function derived(program: Address, ...seeds: (string | Uint8Array)[]): Promise<SolanaAddress> {
	return (await getProgramDerivedAddress({ programAddress: program, seeds }))[0];
}
