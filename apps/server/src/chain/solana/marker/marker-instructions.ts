import {
	markerAddress,
	markerSeed,
	type SolanaAddress,
	tokenAccountRentLamports,
	tokenAccountSize,
} from "@geoswap/protocol";
import type { Instruction, TransactionSigner } from "@solana/kit";
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import { getInitializeAccount3Instruction, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";

/** Accounts of this mint can be closed even if someone sent them tokens or lamports. */
export const nativeMint = "So11111111111111111111111111111111111111112" as SolanaAddress;

/**
 * Makes an order's marker, or fails the whole transaction if it was made before. The rent is paid in full even if
 * someone has put lamports there: it comes back with the rest.
 */
export async function markerInstructions({
	feePayer,
	base,
	orderId,
	owner,
}: {
	feePayer: TransactionSigner;
	base: TransactionSigner;
	orderId: Hex;
	owner: SolanaAddress;
}): Promise<Instruction[]> {
	const marker = await markerAddress({ base: base.address, orderId });
	return [
		getTransferSolInstruction({ source: feePayer, destination: marker, amount: tokenAccountRentLamports }),
		getAllocateWithSeedInstruction({
			newAccount: marker,
			baseAccount: base,
			base: base.address,
			seed: markerSeed(orderId),
			space: tokenAccountSize,
			programAddress: TOKEN_PROGRAM_ADDRESS,
		}),
		getInitializeAccount3Instruction({ account: marker, mint: nativeMint, owner }),
	];
}
