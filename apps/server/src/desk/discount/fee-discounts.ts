import { isSolana, type Milliseconds, type Seconds } from "@geoswap/protocol";
import type { Address } from "viem";
import { createReadThroughCache } from "../../chain/read-through-cache.ts";
import { earnedTier, type FeeTier } from "./fee-tier.ts";

/** The fee discounts of wallets. */
export type FeeDiscounts = {
	/**
	 * Returns the wallet's tier if it is known, within the bounds of `BoundedReadings`. Never rejects, even if the
	 * text, which comes from a caller, is not an address.
	 */
	tierOf: (
		wallet: string,
		asked: { originChainId: number; accountId: string },
	) => Promise<FeeTier | undefined>;
};

/**
 * Creates tiers by the balance of the service's token on one EVM chain. A wallet of any EVM chain has the same
 * address there. A Solana wallet has none.
 */
export function createFeeDiscounts({
	tiers,
	decimals,
	readBalance,
	...reading
}: {
	/** The tiers in ascending order. */
	tiers: readonly FeeTier[];
	/** The token's decimals. */
	decimals: number;
	cacheSeconds: Seconds;
	timeoutMs: Milliseconds;
	/** Rejects if the signal aborts. */
	readBalance: (wallet: Address, signal: AbortSignal) => Promise<bigint>;
	nowMs: () => Milliseconds;
	onError?: (error: unknown) => void;
}): FeeDiscounts {
	const readings = createReadThroughCache<Address, FeeTier>({
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
