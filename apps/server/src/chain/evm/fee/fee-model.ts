import { type ChainKind, greater, mulDivUp, type Wei } from "@geoswap/protocol";
import {
	type Address,
	encodeFunctionData,
	type Hex,
	hexToBigInt,
	parseAbi,
	type RpcTransactionReceipt,
} from "viem";
import type { EvmChain } from "../connect-chain.ts";
import type { View } from "../read/call-multicall.ts";

export const noL1Rates: L1Rates = { picoWeiPerDataUnit: 0n, operatorWeiPerMillionGas: 0n, operatorWei: 0n };

/**
 * Returns a fee per unit of gas that is enough for five full blocks in a row. Each of them raises the base fee by an
 * eighth.
 */
export function highestFeePerGas({ baseFee, tip }: Pick<FeeRates, "baseFee" | "tip">): Wei {
	return 2n * baseFee + tip;
}

/** The chain charges for gas alone. */
const eip1559: FeeModel = {
	views: [],
	l1Rates: () => noL1Rates,
	cost: ({ baseFee, tip }, { gas }) => gas * (baseFee + tip),
	mustHold: (rates, { gas }) => gas * highestFeePerGas(rates),
	readExtraGas: async () => 0n,
	paid: ({ gasUsed, effectiveGasPrice }) => hexToBigInt(gasUsed) * hexToBigInt(effectiveGasPrice),
};

const million = 1_000_000n;
const pico = million * million;

/** The GasPriceOracle. viem has its ABI without the scalars, and does not export it. */
const address = "0x420000000000000000000000000000000000000F";
const oracleAbi = parseAbi([
	"function l1BaseFee() view returns (uint256)",
	"function baseFeeScalar() view returns (uint32)",
	"function blobBaseFee() view returns (uint256)",
	"function blobBaseFeeScalar() view returns (uint32)",
	"function getOperatorFee(uint256 gasUsed) view returns (uint256)",
]);
const ask = (callData: Hex): View => ({ target: address, callData });

/** The receipt's fields about the chain below. viem leaves those of the operator fee out. */
type OpStackReceipt = RpcTransactionReceipt & {
	l1Fee?: Hex;
	/** Both are absent while both are zero. */
	operatorFeeScalar?: Hex;
	operatorFeeConstant?: Hex;
	/** Present since the Jovian upgrade, which changed the operator fee's unit. */
	daFootprintGasScalar?: Hex;
};

/**
 * Beside gas, the chain charges for the transaction's compressed bytes, at the fees of Ethereum's calldata and blobs,
 * and an operator fee. A unit of data is a millionth of an estimated byte.
 */
const opStack: FeeModel = {
	views: [
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "l1BaseFee" })),
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "baseFeeScalar" })),
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "blobBaseFee" })),
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "blobBaseFeeScalar" })),
		// The fee is linear in the gas before and after Jovian, so two answers give both of its parts.
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "getOperatorFee", args: [0n] })),
		ask(encodeFunctionData({ abi: oracleAbi, functionName: "getOperatorFee", args: [million] })),
	],
	l1Rates: (answers) => {
		const [l1BaseFee, scalar, blobBaseFee, blobScalar, ...operator] = answers.map(([word]) => word);
		if (
			l1BaseFee === undefined ||
			scalar === undefined ||
			blobBaseFee === undefined ||
			blobScalar === undefined
		) {
			throw new Error(
				`the GasPriceOracle at ${address} does not answer; check that the kind of this chain is op-stack`,
			);
		}
		// An oracle from before Isthmus has no operator fee.
		const [operatorWei = 0n, forMillion = 0n] = operator;
		if ((operator[0] === undefined) !== (operator[1] === undefined) || forMillion < operatorWei) {
			throw new Error(
				`the GasPriceOracle at ${address} returns no usable operator fee; configure another node`,
			);
		}
		return {
			picoWeiPerDataUnit: 16n * scalar * l1BaseFee + blobScalar * blobBaseFee,
			operatorWeiPerMillionGas: forMillion - operatorWei,
			operatorWei,
		};
	},
	cost: (rates, transaction) => eip1559.cost(rates, transaction) + l1Cost(rates, transaction),
	mustHold: (rates, transaction) => eip1559.mustHold(rates, transaction) + l1Cost(rates, transaction),
	readExtraGas: eip1559.readExtraGas,
	paid: (receipt) => {
		const { l1Fee = "0x0" } = receipt as OpStackReceipt;
		return eip1559.paid(receipt) + hexToBigInt(l1Fee) + operatorFee(receipt);
	},
};

/**
 * Returns the fee for the data plus the operator fee. The operator fee depends on the gas limit until the gas is used.
 */
function l1Cost({ l1 }: FeeRates, { gas, fastLzBytes }: TransactionShape): Wei {
	return (
		mulDivUp(dataUnits(fastLzBytes), l1.picoWeiPerDataUnit, pico) +
		mulDivUp(gas, l1.operatorWeiPerMillionGas, million) +
		l1.operatorWei
	);
}

/** Returns Fjord's estimate of the data's size in millionths of a byte, a linear fit to sizes of real transactions. */
function dataUnits(fastLzBytes: number): bigint {
	return greater(836_500n * BigInt(fastLzBytes) - 42_585_600n, 100n * million);
}

function operatorFee(receipt: OpStackReceipt): bigint {
	const { operatorFeeScalar = "0x0", operatorFeeConstant = "0x0", daFootprintGasScalar } = receipt;
	const scaled = hexToBigInt(receipt.gasUsed) * hexToBigInt(operatorFeeScalar);
	const isJovian = daFootprintGasScalar !== undefined;
	return (isJovian ? scaled * 100n : scaled / million) + hexToBigInt(operatorFeeConstant);
}

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
const arbitrum: FeeModel = {
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
				`ArbGasInfo at ${arbGasInfo.address} does not answer; check that the kind of this chain is arbitrum`,
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

/** A transaction as far as its cost depends on it. */
export type TransactionShape = {
	/** Gas that it uses on the chain itself. */
	gas: bigint;
	/** The size of its signed bytes as OP-stack chains count it, compressed with FastLZ. */
	fastLzBytes: number;
	/** The size of its signed bytes as Arbitrum counts it, compressed with Brotli. */
	brotliBytes: number;
};

/** Fees of the chain below a rollup, as of one block. All are zero on a chain that has none below it. */
export type L1Rates = {
	/** Price of one of the model's units of data, in millionths of a millionth of a wei. */
	picoWeiPerDataUnit: bigint;
	/** The operator fee of OP-stack chains: for each million units of gas, and for each transaction. */
	operatorWeiPerMillionGas: Wei;
	operatorWei: Wei;
};

/** Fees of a chain as of one block, from which the cost of a transaction follows. */
export type FeeRates = {
	/** Wei per unit of gas, which the chain itself takes. */
	baseFee: Wei;
	/** Wei per unit of gas that our transactions offer above it. */
	tip: Wei;
	l1: L1Rates;
};

/** The rules by which one kind of chain charges for transactions. */
export type FeeModel = {
	/** The calls that read the L1 rates. They are made together with the calls for prices. */
	views: readonly View[];
	/** Decodes the answers to `views`, each as its words; none if the call failed. Throws if the rates are unknown. */
	l1Rates: (answers: readonly (readonly bigint[])[]) => L1Rates;
	/** Returns what a transaction will cost its sender at these rates, rounded up. */
	cost: (rates: FeeRates, transaction: TransactionShape) => Wei;
	/**
	 * Returns what a sender must hold so that the chain takes a transaction with this gas limit. That is its maximum
	 * cost, at the highest fee that it offers.
	 */
	mustHold: (rates: FeeRates, transaction: TransactionShape) => Wei;
	/** Reads a generous estimate of the gas that a transaction needs beside what its simulation used. */
	readExtraGas: (chain: EvmChain, call: { to: Address; data: Hex }) => Promise<bigint>;
	/** Returns what a transaction did cost its sender. */
	paid: (receipt: RpcTransactionReceipt) => Wei;
};

const feeModels: Record<ChainKind, FeeModel> = { eip1559, "op-stack": opStack, arbitrum };

/** Returns the fee model of a deployment. */
export function feeModelOf({ kind }: { kind: ChainKind }): FeeModel {
	return feeModels[kind];
}
