import type { TransactionPartialSigner } from "@solana/kit";

/** The service's keys on Solana. They sign transactions; their private halves cannot be read. */
export type SolanaKeys = {
	feePayers: TransactionPartialSigner[];
	/**
	 * An operator of the vault, which pays orders within the vault's caps. It also voids orders, and refunds those within
	 * Solana.
	 */
	operator: TransactionPartialSigner;
};
