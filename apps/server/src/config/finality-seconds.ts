import type { Config } from "./config.ts";

/** Seconds in which a transaction is final, or is sent again and final then, by chain id. */
export type FinalitySeconds = ReadonlyMap<number, number>;

/** A transaction that does not land must expire before another one is sent, on chains where it can. */
export function finalitySecondsOf({ chains }: Pick<Config, "chains">): FinalitySeconds {
	return new Map(
		chains.map(({ chainId, finalitySeconds, deadAfterSeconds }) => [
			chainId,
			finalitySeconds + deadAfterSeconds,
		]),
	);
}
