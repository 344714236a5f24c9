import {
	concat,
	type Hash,
	type Hex,
	hexToBigInt,
	hexToNumber,
	isAddressEqual,
	keccak256,
	numberToHex,
	parseAbi,
	parseEventLogs,
	slice,
	TransactionReceiptNotFoundError,
} from "viem";
import type { DevCctp } from "./add-cctp.ts";

/** The message of a burn that is not attested yet. */
export type SentMessage = {
	from: DevCctp;
	bytes: Hex;
	/** The nonce that the model gives it. */
	nonce: Hex;
	destinationDomain: number;
	minFinalityThreshold: number;
	amount: bigint;
	maxFee: bigint;
	blockNumber: bigint;
	/** The time of its block. */
	atMs: number;
};

const transmitterAbi = parseAbi(["event MessageSent(bytes message)"]);

/** The header's length, and with it the place of the body. */
const headerBytes = 148;

/** Reads the messages of a transaction from the chain, so that the model remembers none and misses none. */
export async function readSentMessages(from: DevCctp, hash: Hash): Promise<SentMessage[]> {
	const { publicClient } = from.chain;
	const receipt = await publicClient.getTransactionReceipt({ hash }).catch((error) => {
		if (error instanceof TransactionReceiptNotFoundError) return undefined;
		throw error;
	});
	if (!receipt) return [];
	const { timestamp } = await publicClient.getBlock({ blockHash: receipt.blockHash });
	return parseEventLogs({ abi: transmitterAbi, logs: receipt.logs })
		.filter(({ address }) => isAddressEqual(address, from.messageTransmitter))
		.map(({ args: { message: bytes } }, i) => ({
			from,
			bytes,
			// A reorg that moves the transaction to another block must not change the nonce.
			nonce: keccak256(concat([hash, numberToHex(i, { size: 32 })])),
			destinationDomain: hexToNumber(slice(bytes, 8, 12)),
			minFinalityThreshold: hexToNumber(slice(bytes, 140, 144)),
			amount: hexToBigInt(slice(bytes, headerBytes + 68, headerBytes + 100)),
			maxFee: hexToBigInt(slice(bytes, headerBytes + 132, headerBytes + 164)),
			blockNumber: receipt.blockNumber,
			atMs: Number(timestamp) * 1_000,
		}));
}

/** Returns the message with the fields that attesters fill in. */
export function attestableMessage(
	bytes: Hex,
	fields: { nonce: Hex; finalityThresholdExecuted: number; feeExecuted: bigint; expirationBlock: bigint },
): Hex {
	const word = (value: bigint) => numberToHex(value, { size: 32 });
	return concat([
		slice(bytes, 0, 12),
		fields.nonce,
		slice(bytes, 44, 144),
		numberToHex(fields.finalityThresholdExecuted, { size: 4 }),
		slice(bytes, headerBytes, headerBytes + 164),
		word(fields.feeExecuted),
		word(fields.expirationBlock),
	]);
}
