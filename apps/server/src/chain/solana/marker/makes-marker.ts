import {
	markerSeed,
	type SolanaAddress,
	tokenAccountRentLamports,
	tokenAccountSize,
} from "@geoswap/protocol";
import {
	ALLOCATE_WITH_SEED_DISCRIMINATOR,
	getAllocateWithSeedInstructionDataDecoder,
	SYSTEM_PROGRAM_ADDRESS,
} from "@solana-program/system";
import {
	getInitializeAccount3InstructionDataDecoder,
	INITIALIZE_ACCOUNT3_DISCRIMINATOR,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import type { Hex } from "viem";
import type { Landed, LandedInstruction } from "../read/read-landed.ts";
import { nativeMint } from "./marker-instructions.ts";

type Marker = { base: SolanaAddress; orderId: Hex };

/** Returns whether the transaction made exactly this marker. */
export function makesMarker(landed: Landed, marker: Marker & { owner: SolanaAddress }): boolean {
	return madeMarkerOwner(landed, marker) === marker.owner;
}

/** Returns the owner of the marker that the transaction created for this order and base; undefined if there is none. */
export function madeMarkerOwner(landed: Landed, { base, orderId }: Marker): SolanaAddress | undefined {
	if (landed.isFailed || !landed.message.signers.includes(base)) return undefined;
	const seed = markerSeed(orderId);
	// The chain has checked that the address follows from base and seed.
	const [allocated, ...others] = landed.message.instructions.filter((instruction) =>
		allocates(instruction, { base, seed }),
	);
	const address = allocated?.accounts[0];
	if (!address || others.length > 0) return undefined;
	const [initialized, ...again] = landed.message.instructions.filter(
		(instruction) => isInitialize(instruction) && instruction.accounts[0] === address,
	);
	if (!initialized || again.length > 0 || initialized.accounts[1] !== nativeMint) return undefined;
	// A marker that was closed in the same transaction would guard nothing.
	if ((landed.lamports.get(address)?.after ?? 0n) < tokenAccountRentLamports) return undefined;
	return getInitializeAccount3InstructionDataDecoder().decode(initialized.data).owner;
}

function allocates(
	{ program, accounts, data }: LandedInstruction,
	{ base, seed }: { base: SolanaAddress; seed: string },
): boolean {
	if (program !== SYSTEM_PROGRAM_ADDRESS || data[0] !== ALLOCATE_WITH_SEED_DISCRIMINATOR) return false;
	if (data[1] !== 0 || data[2] !== 0 || data[3] !== 0) return false;
	const said = getAllocateWithSeedInstructionDataDecoder().decode(data);
	return (
		accounts[1] === base &&
		said.base === base &&
		said.seed === seed &&
		said.space === BigInt(tokenAccountSize) &&
		said.programAddress === TOKEN_PROGRAM_ADDRESS
	);
}

function isInitialize({ program, data }: LandedInstruction): boolean {
	return program === TOKEN_PROGRAM_ADDRESS && data[0] === INITIALIZE_ACCOUNT3_DISCRIMINATOR;
}
