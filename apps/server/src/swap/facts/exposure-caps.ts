/** Of inputs from one chain, in flight: the most that may be at risk. */
export type ExposureCaps = { unreleasedUsdCents: bigint; unfinalUsdCents: bigint };
