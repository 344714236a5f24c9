import type { Milliseconds } from "@geoswap/protocol";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readTokenBalance } from "../../chain/evm/read/read-balances.ts";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../telemetry/log.ts";
import { createFeeDiscounts, type FeeDiscounts } from "./fee-discounts.ts";

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
