/**
 * The share of a marker's lifetime in which its order may be decided. The rest is left for what was signed to land: once the
 * marker is closed, nothing on Solana prevents a second payment.
 */
export const markerShare = 0.9;
