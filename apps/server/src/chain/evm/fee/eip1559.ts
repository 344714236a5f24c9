import { hexToBigInt } from "viem";
import type { FeeModel, L1Rates } from "./fee-model.ts";

export const noL1Rates: L1Rates = { picoWeiPerDataUnit: 0n, operatorWeiPerMillionGas: 0n, operatorWei: 0n };

/** The chain charges for gas alone. */
export const eip1559: FeeModel = {
	views: [],
	l1Rates: () => noL1Rates,
	cost: ({ baseFee, tip }, { gas }) => gas * (baseFee + tip),
	readExtraGas: async () => 0n,
	paid: ({ gasUsed, effectiveGasPrice }) => hexToBigInt(gasUsed) * hexToBigInt(effectiveGasPrice),
};
