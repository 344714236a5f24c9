import type { Config } from "./config.ts";

/** Of each chain, by its id: in which what is sent there is final, or is sent again and final then. */
export type FinalitySeconds = ReadonlyMap<number, number>;

/** On Solana a transaction that does not land must die before another is sent. */
export function finalitySecondsOf({ chains, solana }: Pick<Config, "chains" | "solana">): FinalitySeconds {
	return new Map([
		...chains.map(({ chainId, finalitySeconds }) => [chainId, finalitySeconds] as const),
		...(solana ? [[solana.chainId, solana.finalitySeconds + solana.blockhashSeconds.most] as const] : []),
	]);
}
