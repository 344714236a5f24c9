import { greater, mulDivUp, type Wei } from "@geoswap/protocol";
import { encodeFunctionData, type Hex, hexToBigInt, parseAbi, type RpcTransactionReceipt } from "viem";
import type { View } from "../read/call-multicall.ts";
import { eip1559 } from "./eip1559.ts";
import type { FeeModel, FeeRates, TransactionShape } from "./fee-model.ts";

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
export const opStack: FeeModel = {
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
				`the GasPriceOracle at ${address} does not answer: is the kind of this chain op-stack?`,
			);
		}
		// An oracle from before Isthmus has no operator fee.
		const [operatorWei = 0n, forMillion = 0n] = operator;
		if ((operator[0] === undefined) !== (operator[1] === undefined) || forMillion < operatorWei) {
			throw new Error(`the GasPriceOracle at ${address} gives no usable operator fee: ask another node`);
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
