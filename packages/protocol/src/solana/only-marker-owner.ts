import { ALLOCATE_WITH_SEED_DISCRIMINATOR, SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import {
	getInitializeAccount3InstructionDataDecoder,
	INITIALIZE_ACCOUNT3_DISCRIMINATOR,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import type { Hex } from "viem";
import { markerAddress } from "./marker-address.ts";
import type { SolanaAddress } from "./solana-address.ts";

/** An instruction of a transaction that landed. */
export type PlainInstruction = {
	program: SolanaAddress;
	accounts: readonly (SolanaAddress | undefined)[];
	data: Uint8Array;
};

/**
 * Returns the owner of the order's marker if these instructions make it, and no other marker. So a transaction, and the one
 * payment in it, is about one order only: one that made two markers would be about neither.
 */
export async function onlyMarkerOwner(
	instructions: readonly PlainInstruction[],
	{ base, orderId }: { base: SolanaAddress; orderId: Hex },
): Promise<SolanaAddress | undefined> {
	const marker = await markerAddress({ base, orderId });
	const allocations = instructions.filter(
		({ program, data }) => program === SYSTEM_PROGRAM_ADDRESS && data[0] === ALLOCATE_WITH_SEED_DISCRIMINATOR,
	);
	// The chain has checked that the address follows from the base, which signed, and the seed.
	const [newAccount, signer] = allocations[0]?.accounts ?? [];
	if (allocations.length !== 1 || newAccount !== marker || signer !== base) return undefined;
	const [initialized, ...others] = instructions.filter(
		({ program, accounts, data }) =>
			program === TOKEN_PROGRAM_ADDRESS &&
			data[0] === INITIALIZE_ACCOUNT3_DISCRIMINATOR &&
			accounts[0] === marker,
	);
	if (!initialized || others.length > 0) return undefined;
	return getInitializeAccount3InstructionDataDecoder().decode(initialized.data).owner as SolanaAddress;
}
