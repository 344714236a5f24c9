import { isSolana, type Milliseconds, mulDivUp, type Seconds } from "@geoswap/protocol";
import type { Address } from "viem";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readTokenBalance } from "../../chain/evm/read/read-balances.ts";
import { createReadThroughCache } from "../../chain/read-through-cache.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";

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

/** Returns the configured discounts, read from the token's chain, or undefined if there are none. */
export function chainFeeDiscounts({
	config: { feeDiscount },
	chains,
	nowMs,
	log,
}: {
	config: Pick<Config, "feeDiscount">;
	chains: ReadonlyMap<number, EvmChain>;
	nowMs: () => Milliseconds;
	log: Log;
}): FeeDiscounts | undefined {
	if (!feeDiscount) return undefined;
	const { chainId, ...discount } = feeDiscount;
	const chain = chains.get(chainId);
	const token = chain?.deployment.feeDiscountToken;
	if (!token) throw new RangeError(`chain ${chainId} has no fee discount token`);
	return createFeeDiscounts({
		...discount,
		decimals: token.decimals,
		readBalance: (holder, signal) => readTokenBalance(chain, { token: token.address, holder, signal }),
		nowMs,
		onError: (err) => log.warn({ chainId, err }, "a balance for a fee discount could not be read"),
	});
}

/** The discount of a wallet, and its name. */
type FeeTier = {
	name: string;
	/** The minimum balance in whole tokens. */
	minimum: string;
	discountPercent: number;
};

/** Returns the best tier that the balance, in smallest units, reaches. */
export function earnedTier(
	tiers: readonly FeeTier[],
	{ balance, decimals }: { balance: bigint; decimals: number },
): FeeTier | undefined {
	// Tiers ascend, so the last one reached is the best.
	return tiers.findLast(({ minimum }) => balance >= BigInt(minimum) * 10n ** BigInt(decimals));
}

const millionth = 1_000_000;
const whole = 100n * BigInt(millionth);

/** Returns the fee after the discount, rounded up, so that no wallet gets more than its tier's discount. */
export function discountedFee(feeMillibps: number, { discountPercent }: FeeTier): number {
	const off = BigInt(Math.round(discountPercent * millionth));
	return Number(mulDivUp(BigInt(feeMillibps), whole - off, whole));
}
