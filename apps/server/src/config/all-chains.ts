/** The chains of both kinds, those of EVM first. */
export function allChains<Evm, Solana>({
	chains,
	solana,
}: {
	chains: readonly Evm[];
	solana?: Solana | undefined;
}): (Evm | Solana)[] {
	return [...chains, ...(solana ? [solana] : [])];
}
