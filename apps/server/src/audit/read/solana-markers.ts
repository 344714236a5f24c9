import type { SolanaAddress, SolanaDeployment } from "@geoswap/protocol";
import { getAddressDecoder } from "@solana/kit";
import { getAllocateWithSeedInstructionDataDecoder, SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { SolanaInstruction } from "./solana-instructions.ts";

/** A marker that a transaction made. It records what was decided about an order on this side. */
export type MadeMarker = {
	address: SolanaAddress;
	decided: "filled" | "voided" | "released" | "refunded";
	/** The seed of the marker's address, which identifies the order. */
	seed: string;
};

const nativeMint = "So11111111111111111111111111111111111111112";
const instructionNumber = { allocateWithSeed: 9, initializeAccount3: 18, closeAccount: 9 } as const;

/** The decision that a marker records, by who signed for its address and who owns it. */
const meaning = {
	vault: { vault: "filled", escrow: "voided" },
	escrow: { vault: "released", escrow: "refunded" },
} as const;

/** Returns the markers of our keys that a transaction made. */
export function madeMarkers(
	{ escrow, vault }: SolanaDeployment,
	instructions: readonly SolanaInstruction[],
): MadeMarker[] {
	const keyOf = (address: SolanaAddress) =>
		address === vault ? "vault" : address === escrow ? "escrow" : undefined;
	return instructions.flatMap(({ program, accounts, data }): MadeMarker[] => {
		const [address] = accounts;
		const isAllocation =
			program === SYSTEM_PROGRAM_ADDRESS && numberOf(data.slice(0, 4)) === instructionNumber.allocateWithSeed;
		if (!isAllocation || !address) return [];
		const { base: baseAddress, seed } = getAllocateWithSeedInstructionDataDecoder().decode(data);
		const base = keyOf(baseAddress);
		const owners = instructions.flatMap((other) =>
			isTokenInstruction(other, instructionNumber.initializeAccount3) &&
			other.accounts[0] === address &&
			other.accounts[1] === nativeMint
				? [getAddressDecoder().decode(other.data, 1)]
				: [],
		);
		const owner = owners[0] && keyOf(owners[0]);
		return base && owner ? [{ address, seed, decided: meaning[base][owner] }] : [];
	});
}

/** Returns the accounts that a transaction closed. */
export function closedAccounts(instructions: readonly SolanaInstruction[]): SolanaAddress[] {
	return instructions
		.filter((instruction) => isTokenInstruction(instruction, instructionNumber.closeAccount))
		.flatMap(({ accounts }) => accounts.slice(0, 1));
}

function isTokenInstruction({ program, data }: SolanaInstruction, number: number): boolean {
	return program === TOKEN_PROGRAM_ADDRESS && data[0] === number;
}

function numberOf(bytes: Uint8Array): number {
	return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
}
