import { type Address, type Hex, numberToHex, zeroAddress, zeroHash } from "viem";
import { blockGasLimit } from "./block-gas-limit.ts";
import type { EvmBlock, MinedTransaction } from "./evm-blocks.ts";
import type { EvmTransaction } from "./parse-raw-transaction.ts";

const typeNumber = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2", eip7702: "0x4" } as const;
const noBloom: Hex = `0x${"00".repeat(256)}`;

export type RpcLog = {
	address: Address;
	topics: Hex[];
	data: Hex;
	blockHash: Hex;
	blockNumber: Hex;
	blockTimestamp: Hex;
	transactionHash: Hex;
	transactionIndex: Hex;
	logIndex: Hex;
	removed: boolean;
};

export function rpcBlock(block: EvmBlock, { chainId, isFull }: { chainId: number; isFull: boolean }) {
	return {
		number: numberToHex(block.number),
		hash: block.hash,
		parentHash: block.parentHash,
		timestamp: numberToHex(block.timestamp),
		baseFeePerGas: numberToHex(block.baseFee),
		gasUsed: numberToHex(block.gasUsed),
		gasLimit: numberToHex(blockGasLimit),
		miner: zeroAddress,
		difficulty: "0x0",
		nonce: "0x0000000000000000",
		extraData: "0x",
		logsBloom: noBloom,
		mixHash: zeroHash,
		receiptsRoot: zeroHash,
		sha3Uncles: zeroHash,
		size: "0x0",
		stateRoot: zeroHash,
		transactionsRoot: zeroHash,
		uncles: [],
		transactions: block.mined.map(({ transaction }, index) =>
			isFull ? rpcTransaction(transaction, { chainId, block, index }) : transaction.hash,
		),
	};
}

export function rpcLogs(block: EvmBlock): RpcLog[] {
	return block.mined.flatMap((mined, index) => logsOf(block, mined, index));
}

function logsOf(block: EvmBlock, { transaction, logs, firstLogIndex }: MinedTransaction, index: number) {
	return logs.map(
		({ address, topics, data }, i): RpcLog => ({
			address,
			topics: [...topics],
			data,
			blockHash: block.hash,
			blockNumber: numberToHex(block.number),
			blockTimestamp: numberToHex(block.timestamp),
			transactionHash: transaction.hash,
			transactionIndex: numberToHex(index),
			logIndex: numberToHex(firstLogIndex + i),
			removed: false,
		}),
	);
}

export function rpcReceipt(block: EvmBlock, index: number) {
	const mined = block.mined[index] as MinedTransaction;
	const { transaction, gasUsed, gasPrice, isSuccess } = mined;
	const before = block.mined.slice(0, index + 1);
	return {
		transactionHash: transaction.hash,
		transactionIndex: numberToHex(index),
		blockHash: block.hash,
		blockNumber: numberToHex(block.number),
		from: transaction.from,
		to: transaction.to ?? null,
		contractAddress: null,
		type: typeNumber[transaction.type],
		status: isSuccess ? "0x1" : "0x0",
		gasUsed: numberToHex(gasUsed),
		cumulativeGasUsed: numberToHex(before.reduce((sum, other) => sum + other.gasUsed, 0n)),
		effectiveGasPrice: numberToHex(gasPrice),
		logs: logsOf(block, mined, index),
		logsBloom: noBloom,
	};
}

export function rpcTransaction(
	transaction: EvmTransaction,
	{ chainId, block, index }: { chainId: number; block?: EvmBlock; index?: number },
) {
	return {
		hash: transaction.hash,
		type: typeNumber[transaction.type],
		chainId: numberToHex(chainId),
		nonce: numberToHex(transaction.nonce),
		from: transaction.from,
		to: transaction.to ?? null,
		value: numberToHex(transaction.value),
		input: transaction.data,
		gas: numberToHex(transaction.gas),
		gasPrice: numberToHex(transaction.maxFeePerGas),
		maxFeePerGas: numberToHex(transaction.maxFeePerGas),
		maxPriorityFeePerGas: numberToHex(transaction.maxPriorityFeePerGas),
		blockHash: block?.hash ?? null,
		blockNumber: block ? numberToHex(block.number) : null,
		transactionIndex: index === undefined ? null : numberToHex(index),
		accessList: [],
		r: zeroHash,
		s: zeroHash,
		v: "0x0",
		yParity: "0x0",
	};
}
