import type { Config } from "./config.ts";

/** Seconds in which a transaction is final, or is sent again and final then, by chain id. */
export type FinalitySeconds = ReadonlyMap<number, number>;

/** On Solana a transaction that does not land must expire before another is sent. */
export function finalitySecondsOf({ chains, solana }: Pick<Config, "chains" | "solana">): FinalitySeconds {
	return new Map([
		...chains.map(({ chainId, finalitySeconds }) => [chainId, finalitySeconds] as const),
		...(solana ? [[solana.chainId, solana.finalitySeconds + solana.blockhashSeconds.most] as const] : []),
	]);
}
