/** Returns the chains of both kinds, EVM first. */
export function allChains<Evm, Solana>({
	chains,
	solana,
}: {
	chains: readonly Evm[];
	solana?: Solana | undefined;
}): (Evm | Solana)[] {
	return [...chains, ...(solana ? [solana] : [])];
}
