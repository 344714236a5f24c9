import type { TransactionPartialSigner } from "@solana/kit";

/** The service's keys on Solana. They sign transactions, and nobody here can read them. */
export type SolanaKeys = {
	feePayers: TransactionPartialSigner[];
	escrow: TransactionPartialSigner;
	vault: TransactionPartialSigner;
};
