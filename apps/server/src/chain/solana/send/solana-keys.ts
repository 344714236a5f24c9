import type { TransactionPartialSigner } from "@solana/kit";

/** The service's keys on Solana. They sign transactions; their private halves cannot be read. */
export type SolanaKeys = {
	feePayers: TransactionPartialSigner[];
	/** An operator of the vault: pays orders within the vault's caps, and nothing else. */
	operator: TransactionPartialSigner;
};
