import type { Wei } from "@geoswap/protocol";
import { hexToBigInt } from "viem";
import type { FeeModel, FeeRates, L1Rates } from "./fee-model.ts";

export const noL1Rates: L1Rates = { picoWeiPerDataUnit: 0n, operatorWeiPerMillionGas: 0n, operatorWei: 0n };

/**
 * Returns a fee per unit of gas that is enough for five full blocks in a row. Each of them raises the base fee by an
 * eighth.
 */
export function highestFeePerGas({ baseFee, tip }: Pick<FeeRates, "baseFee" | "tip">): Wei {
	return 2n * baseFee + tip;
}

/** The chain charges for gas alone. */
export const eip1559: FeeModel = {
	views: [],
	l1Rates: () => noL1Rates,
	cost: ({ baseFee, tip }, { gas }) => gas * (baseFee + tip),
	mustHold: (rates, { gas }) => gas * highestFeePerGas(rates),
	readExtraGas: async () => 0n,
	paid: ({ gasUsed, effectiveGasPrice }) => hexToBigInt(gasUsed) * hexToBigInt(effectiveGasPrice),
};
