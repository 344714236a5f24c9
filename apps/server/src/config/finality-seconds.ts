import type { Config } from "./config.ts";

/**
 * Seconds until a transaction is final, or until a second one is final that replaces one that did not land, by chain
 * id.
 */
export type FinalitySeconds = ReadonlyMap<number, number>;

/**
 * Returns the seconds by chain. Where transactions expire, one that does not land must expire before another is sent.
 */
export function finalitySecondsOf({ chains }: Pick<Config, "chains">): FinalitySeconds {
	return new Map(
		chains.map(({ chainId, finalitySeconds, deadAfterSeconds }) => [
			chainId,
			finalitySeconds + deadAfterSeconds,
		]),
	);
}
