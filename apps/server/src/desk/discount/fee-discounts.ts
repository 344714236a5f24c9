import { isSolana } from "@geoswap/protocol";
import type { Address } from "viem";
import { createBoundedReadings } from "../../chain/bounded-readings.ts";
import { earnedTier, type FeeTier } from "./fee-tier.ts";

/** Which wallets pay less. */
export type FeeDiscounts = {
	/**
	 * Returns the wallet's tier, as far as it is known: see `BoundedReadings`. Never rejects, whatever the text: it may be
	 * anything that a caller sent.
	 */
	tierOf: (
		wallet: string,
		asked: { originChainId: number; accountId: string },
	) => Promise<FeeTier | undefined>;
};

/**
 * Tiers by what wallets hold of the service's token on one EVM chain. A wallet of any EVM chain counts there by the same
 * address; one of Solana has no address there.
 */
export function createFeeDiscounts({
	tiers,
	decimals,
	readBalance,
	...reading
}: {
	/** Ascending. */
	tiers: readonly FeeTier[];
	/** Of the token. */
	decimals: number;
	cacheSeconds: number;
	timeoutMs: number;
	/** Rejects where the signal aborts. */
	readBalance: (wallet: Address, signal: AbortSignal) => Promise<bigint>;
	nowMs: () => number;
	onError?: (error: unknown) => void;
}): FeeDiscounts {
	const readings = createBoundedReadings<Address, FeeTier>({
		...reading,
		read: async (wallet, signal) =>
			earnedTier(tiers, { balance: await readBalance(wallet, signal), decimals }),
	});
	return {
		tierOf: async (text, { originChainId, accountId }) => {
			if (isSolana(originChainId) || !/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined;
			return readings.valueOf(text.toLowerCase() as Address, { accountId });
		},
	};
}
