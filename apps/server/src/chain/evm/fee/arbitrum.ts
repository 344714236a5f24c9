import { mulDivUp, type Wei } from "@geoswap/protocol";
import { encodeFunctionData, parseAbi } from "viem";
import { eip1559, highestFeePerGas, noL1Rates } from "./eip1559.ts";
import type { FeeModel, FeeRates, L1Rates } from "./fee-model.ts";

const pico = 10n ** 12n;

/** Answers only `eth_call`, because no contract exists there on the chain itself. */
const nodeInterface = {
	address: "0x00000000000000000000000000000000000000C8",
	abi: parseAbi([
		"function gasEstimateL1Component(address to, bool contractCreation, bytes data) view returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)",
	]),
} as const;

const arbGasInfo = {
	address: "0x000000000000000000000000000000000000006C",
	abi: parseAbi([
		"function getPricesInWei() view returns (uint256 perL2Tx, uint256 perL1CalldataByte, uint256 perStorage, uint256 perArbGasBase, uint256 perArbGasCongestion, uint256 perArbGasTotal)",
	]),
} as const;

/**
 * The chain charges for the data as gas. The units are as many as pay for the data at the block's base fee. A unit of
 * data is a compressed byte.
 */
export const arbitrum: FeeModel = {
	views: [
		{
			target: arbGasInfo.address,
			callData: encodeFunctionData({ abi: arbGasInfo.abi, functionName: "getPricesInWei" }),
		},
	],
	l1Rates: ([prices]) => {
		const perL1CalldataByte = prices?.[1];
		if (perL1CalldataByte === undefined) {
			throw new Error(
				`ArbGasInfo at ${arbGasInfo.address} does not answer: is the kind of this chain arbitrum?`,
			);
		}
		return { ...noL1Rates, picoWeiPerDataUnit: pico * perL1CalldataByte };
	},
	// The sequencer takes transactions in the order of their arrival, and returns the tip.
	cost: ({ baseFee, l1 }, { gas, brotliBytes }) => gas * baseFee + dataCost(l1, brotliBytes),
	// The gas limit has the extra gas, at the same highest fee. The tip is part of what must be held, though it is returned.
	mustHold: (rates, { gas, brotliBytes }) =>
		(gas + extraGas(dataGas(rates, brotliBytes))) * highestFeePerGas(rates),
	// Simulations leave this gas out.
	readExtraGas: async ({ client }, { to, data }) => {
		const [gas] = await client.readContract({
			...nodeInterface,
			functionName: "gasEstimateL1Component",
			args: [to, false, data],
		});
		return extraGas(gas);
	},
	paid: eip1559.paid,
};

function dataCost({ picoWeiPerDataUnit }: L1Rates, brotliBytes: number): Wei {
	return mulDivUp(BigInt(brotliBytes), picoWeiPerDataUnit, pico);
}

/** Returns the gas that pays for the data at the block's base fee. */
function dataGas({ baseFee, l1 }: FeeRates, brotliBytes: number): bigint {
	return baseFee === 0n ? 0n : mulDivUp(dataCost(l1, brotliBytes), 1n, baseFee);
}

/**
 * Returns three times the gas. In each block, the price of the data can rise by an eighth and that of the gas can fall
 * by an eighth, and the node's estimate leaves out a 7702 list. Unused gas is not paid for.
 */
function extraGas(gas: bigint): bigint {
	return 3n * gas;
}
