/** Solana's chain id, as this ecosystem writes it. */
export const solanaChainId = 792_703_809;
